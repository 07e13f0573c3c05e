import { VERSION } from '../../core/model/version.ts'
import type { Metric, Sample } from './run-metrics.ts'
import { appendPath, parseHttpUrl, sendHttp } from './send-http.ts'

export type OtlpTarget = { url: URL; headers: Record<string, string> }

/**
 * Returns the target of metrics: `endpoint`, else OTEL_EXPORTER_OTLP_METRICS_ENDPOINT, else OTEL_EXPORTER_OTLP_ENDPOINT.
 * `/v1/metrics` is appended to the first and the last. `invalid` is the name of an option or variable with an invalid
 * value. Returns undefined if none is set.
 */
export function otlpTarget(
  endpoint: string | undefined,
  env: NodeJS.ProcessEnv,
): OtlpTarget | { invalid: string } | undefined {
  const { OTEL_EXPORTER_OTLP_METRICS_ENDPOINT: metricsEndpoint, OTEL_EXPORTER_OTLP_ENDPOINT: baseEndpoint } =
    env
  const candidates = [
    { name: '--otlp-endpoint', text: endpoint, path: METRICS_PATH },
    { name: 'OTEL_EXPORTER_OTLP_METRICS_ENDPOINT', text: metricsEndpoint, path: undefined },
    { name: 'OTEL_EXPORTER_OTLP_ENDPOINT', text: baseEndpoint, path: METRICS_PATH },
  ]
  const configured = candidates.find(({ text = '' }) => text !== '')
  if (configured?.text === undefined) return undefined
  const url = parseHttpUrl(configured.text)
  const headers = parseHeaders(env.OTEL_EXPORTER_OTLP_HEADERS ?? '')
  if (url === undefined) return { invalid: configured.name }
  if (headers === undefined) return { invalid: 'OTEL_EXPORTER_OTLP_HEADERS' }
  return { url: configured.path === undefined ? url : appendPath(url, configured.path), headers }
}

const METRICS_PATH = 'v1/metrics'

/** Parses `name=value,…` with percent-encoded values; undefined if the text is invalid. */
function parseHeaders(text: string): Record<string, string> | undefined {
  const pairs = text.split(',').filter((pair) => pair.trim() !== '')
  try {
    return Object.fromEntries(
      pairs.map((pair) => {
        const [, name = '', value = ''] = /^\s*([^=\s]+)\s*=\s*(.*?)\s*$/.exec(pair) ?? []
        new Headers({ [name]: decodeURIComponent(value) })
        return [name, decodeURIComponent(value)]
      }),
    )
  } catch {
    return undefined
  }
}

/** Sends gauges as OTLP/HTTP JSON. Returns the reason if sending fails, or undefined on success. */
export function sendOtlp(
  { url, headers }: OtlpTarget,
  metrics: readonly Metric[],
  now: number,
): Promise<string | undefined> {
  const body = JSON.stringify(otlpDocument(metrics, now))
  return sendHttp({ url, method: 'POST', headers: { ...headers, 'content-type': 'application/json' }, body })
}

/** Builds an ExportMetricsServiceRequest of OTLP 1.x. It is simple enough not to need an SDK. */
export function otlpDocument(metrics: readonly Metric[], now: number): object {
  const timeUnixNano = `${now}000000`
  const resource = { attributes: attributes({ 'service.name': 'walletlake', 'service.version': VERSION }) }
  const scope = { name: 'walletlake', version: VERSION }
  const gauges = metrics.map(({ name, help, samples }) => ({
    name,
    description: help,
    unit: unitOf(name),
    gauge: { dataPoints: samples.map((sample) => dataPoint(sample, timeUnixNano)) },
  }))
  return { resourceMetrics: [{ resource, scopeMetrics: [{ scope, metrics: gauges }] }] }
}

/** In the JSON encoding of OTLP, 64-bit integers are strings. */
function dataPoint({ labels, value }: Sample, timeUnixNano: string): object {
  const number = Number.isSafeInteger(value) ? { asInt: String(value) } : { asDouble: value }
  return { attributes: attributes(labels), timeUnixNano, ...number }
}

function attributes(labels: Readonly<Record<string, string>>): object[] {
  return Object.entries(labels).map(([key, value]) => ({ key, value: { stringValue: value } }))
}

function unitOf(name: string): string {
  if (name.endsWith('_seconds')) return 's'
  return name.endsWith('_bytes') ? 'By' : ''
}
