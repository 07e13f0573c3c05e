import { expect, test } from 'vitest'
import { createDataService } from '../../src/demo-server/create-data-service.ts'
import { fetchJson, walletPath } from './requests.ts'

const LISTING = walletPath(`0x${'0'.repeat(39)}1`, 'pageSize=1')

function open(options = {}) {
  const clock = { ms: 5_000 }
  const service = createDataService({ quirks: ['compute-units'], now: () => clock.ms, ...options })
  return { clock, service }
}

test('the tier free allows 400 listings a minute', async () => {
  const { clock, service } = open()
  for (let nth = 1; nth < 400; nth += 1) await fetchJson(service, LISTING)
  const last = await fetchJson(service, LISTING)
  expect(last.status).toBe(200)
  expect(last.headers).toMatchObject({ 'ratelimit-limit': '8000', 'ratelimit-remaining': '0' })
  clock.ms += 18_500
  const refused = await fetchJson(service, LISTING)
  expect(refused.status).toBe(429)
  expect(refused.headers).toMatchObject({
    'ratelimit-policy': '8000;w=60',
    'ratelimit-reset': '42',
    'retry-after': '42',
  })
  clock.ms += 42_000
  expect((await fetchJson(service, LISTING)).status).toBe(200)
})

test('counts the units of each operation and of each key', async () => {
  const { service } = open({ unitQuota: { perMinute: 100, perDay: 240 }, keys: ['a', 'b'] })
  const remaining = async (path: string, key: string) =>
    (await fetchJson(service, path, { 'x-service-api-key': key })).headers['ratelimit-remaining']
  expect(await remaining('/v1/chains', 'a')).toBe('99')
  expect(await remaining('/v1/webhooks', 'a')).toBe('89')
  expect(await remaining(LISTING, 'a')).toBe('69')
  expect(await remaining(LISTING, 'b')).toBe('80')
})

test('an exhausted day asks to wait for hours', async () => {
  const { clock, service } = open({ unitQuota: { perMinute: 100, perDay: 240 } })
  for (let nth = 0; nth < 12; nth += 1) {
    if (nth % 5 === 0) clock.ms += 60_000
    expect((await fetchJson(service, LISTING)).status).toBe(200)
  }
  const refused = await fetchJson(service, LISTING)
  expect(refused.status).toBe(429)
  expect(Number(refused.headers['retry-after'])).toBeGreaterThan(23 * 3_600)
})

test('has no such quota without the quirk', async () => {
  const { service } = open({ quirks: [] })
  expect((await fetchJson(service, LISTING)).headers).not.toHaveProperty('ratelimit-limit')
})
