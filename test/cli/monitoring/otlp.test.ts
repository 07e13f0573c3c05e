import { expect, test } from 'vitest'
import { otlpDocument, otlpTarget, sendOtlp } from '../../../src/cli/monitoring/otlp.ts'
import { runMetrics } from '../../../src/cli/monitoring/run-metrics.ts'
import { VERSION } from '../../../src/core/model/version.ts'
import { closedUrl } from '../../helpers/serve.ts'
import { outcomeOf } from './outcomes.ts'
import { startReceiver } from './receiver.ts'

const metrics = runMetrics({
  exit: 0,
  now: 20_000,
  jobs: [outcomeOf('night', 0, { totalRows: { ledger: 12 } })],
})

test('builds the document that an OTLP collector expects', () => {
  const two = metrics.filter(({ name }) => /export_rows|duration/.test(name))
  const job = { key: 'job', value: { stringValue: 'night' } }
  const at = { timeUnixNano: '20000000000' }
  expect(otlpDocument(two, 20_000)).toEqual({
    resourceMetrics: [
      {
        resource: {
          attributes: [
            { key: 'service.name', value: { stringValue: 'walletlake' } },
            { key: 'service.version', value: { stringValue: VERSION } },
          ],
        },
        scopeMetrics: [
          {
            scope: { name: 'walletlake', version: VERSION },
            metrics: [
              {
                name: 'walletlake_last_run_duration_seconds',
                description: 'How long the last run took.',
                unit: 's',
                gauge: { dataPoints: [{ attributes: [job], ...at, asDouble: 2.5 }] },
              },
              {
                name: 'walletlake_export_rows',
                description: 'Rows in the export, of all its runs.',
                unit: '',
                gauge: {
                  dataPoints: [
                    {
                      attributes: [job, { key: 'table', value: { stringValue: 'ledger' } }],
                      ...at,
                      asInt: '12',
                    },
                  ],
                },
              },
            ],
          },
        ],
      },
    ],
  })
})

test.for([
  { when: 'only the option', endpoint: 'http://a:4318/', env: {}, url: 'http://a:4318/v1/metrics' },
  {
    when: 'the option takes precedence over both variables',
    endpoint: 'http://a/x',
    env: { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://b', OTEL_EXPORTER_OTLP_METRICS_ENDPOINT: 'http://c' },
    url: 'http://a/x/v1/metrics',
  },
  {
    when: 'the metrics variable is taken as it is',
    endpoint: undefined,
    env: {
      OTEL_EXPORTER_OTLP_ENDPOINT: 'http://b',
      OTEL_EXPORTER_OTLP_METRICS_ENDPOINT: 'http://c/push?a=1',
    },
    url: 'http://c/push?a=1',
  },
  {
    when: 'an empty variable is none',
    endpoint: undefined,
    env: { OTEL_EXPORTER_OTLP_ENDPOINT: 'https://b', OTEL_EXPORTER_OTLP_METRICS_ENDPOINT: '' },
    url: 'https://b/v1/metrics',
  },
])('determines the URL for metrics: $when', ({ endpoint, env, url }) => {
  expect(otlpTarget(endpoint, env)).toMatchObject({ url: new URL(url) })
})

test('sends nothing without an endpoint', () => {
  expect(otlpTarget(undefined, { OTEL_EXPORTER_OTLP_ENDPOINT: '' })).toBeUndefined()
})

test.for([
  { env: { OTEL_EXPORTER_OTLP_ENDPOINT: 'localhost:4317' }, invalid: 'OTEL_EXPORTER_OTLP_ENDPOINT' },
  {
    env: { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://a', OTEL_EXPORTER_OTLP_HEADERS: 'a=%zz' },
    invalid: 'OTEL_EXPORTER_OTLP_HEADERS',
  },
  {
    env: { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://a', OTEL_EXPORTER_OTLP_HEADERS: 'a secret' },
    invalid: 'OTEL_EXPORTER_OTLP_HEADERS',
  },
])('names the invalid variable: $invalid', ({ env, invalid }) => {
  expect(otlpTarget(undefined, env)).toEqual({ invalid })
})

test('posts metrics with the headers from the environment', async () => {
  const { url, received } = await startReceiver()
  const env = { OTEL_EXPORTER_OTLP_HEADERS: 'api-key=a%20b, x-tenant = 7 ' }
  const target = otlpTarget(url, env)
  if (target === undefined || 'invalid' in target) throw new Error('no target')
  expect(await sendOtlp(target, metrics, 20_000)).toBeUndefined()
  expect(received).toMatchObject([
    {
      method: 'POST',
      url: '/v1/metrics',
      headers: { 'api-key': 'a b', 'x-tenant': '7', 'content-type': 'application/json' },
    },
  ])
  expect(JSON.parse(received[0]?.body ?? '')).toEqual(otlpDocument(metrics, 20_000))
})

test('states why metrics could not be sent, without the URL', async () => {
  const refusing = await startReceiver((response) => response.writeHead(401).end())
  const targetAt = (url: string) => ({ url: new URL(url), headers: {} })
  expect(await sendOtlp(targetAt(refusing.url), metrics, 0)).toBe('the response had status 401')
  expect(await sendOtlp(targetAt(await closedUrl()), metrics, 0)).toBe('ECONNREFUSED')
})
