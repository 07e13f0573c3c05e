import { readTextIfExists, writeAtomically } from '../../core/platform/disk.ts'
import { resolveWritePath } from '../../core/platform/user-file.ts'
import type { Metric, Sample } from './run-metrics.ts'

/**
 * Reads the gauges of an existing textfile; none if the file does not exist. Lines of other programs are skipped. Throws
 * OUTPUT_FAILED, and USAGE if the path is not a file.
 */
export async function readTextfile(path: string): Promise<Metric[]> {
  const metrics = new Map<string, Sample[]>()
  for (const line of ((await readTextIfExists(await resolveWritePath(path))) ?? '').split('\n')) {
    const [, name, labels = '', value] = METRIC_LINE.exec(line) ?? []
    if (name === undefined || value === undefined) continue
    metrics.set(name, [...(metrics.get(name) ?? []), { labels: parseLabels(labels), value: Number(value) }])
  }
  return [...metrics].map(([name, samples]) => ({ name, help: '', samples }))
}

const METRIC_LINE = /^(walletlake_\w+)(?:\{(.*)\})? (-?[\d.]+(?:e[+-]?\d+)?)$/s
const LABEL_PAIR = /(\w+)="((?:[^"\\]|\\.)*)"/gs

function parseLabels(text: string): Record<string, string> {
  return Object.fromEntries(
    [...text.matchAll(LABEL_PAIR)].map(([, name, value]) => [name, unescapeLabel(value)]),
  )
}

function unescapeLabel(value = ''): string {
  return value.replace(/\\(.)/gs, (_, char: string) => (char === 'n' ? '\n' : char))
}

/** Atomically replaces the file for the textfile collector of node_exporter. Throws like `readTextfile`. */
export async function writeTextfile(path: string, metrics: readonly Metric[]): Promise<void> {
  await writeAtomically(await resolveWritePath(path), textfileText(metrics))
}

/** Formats gauges in the Prometheus text format. */
export function textfileText(metrics: readonly Metric[]): string {
  return metrics.map((metric) => `${metricLines(metric).join('\n')}\n`).join('')
}

function metricLines({ name, help, samples }: Metric): string[] {
  const lines = samples.map(({ labels, value }) => `${name}${labelText(labels)} ${value}`)
  return [`# HELP ${name} ${help}`, `# TYPE ${name} gauge`, ...lines]
}

function labelText(labels: Sample['labels']): string {
  const parts = Object.entries(labels).map(([name, value]) => `${name}="${escapeLabel(value)}"`)
  return parts.length === 0 ? '' : `{${parts.join(',')}}`
}

function escapeLabel(value: string): string {
  return value.replace(/[\\"\n]/g, (char) => (char === '\n' ? '\\n' : `\\${char}`))
}
