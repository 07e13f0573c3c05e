import { lstat } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { MANIFEST_FILE } from '../../core/model/manifest.ts'
import { readTextIfExists, writeAtomically } from '../../core/platform/disk.ts'
import { resolveOutputPath } from '../../core/platform/user-file.ts'
import type { Metric, Sample } from './run-metrics.ts'

/**
 * Reads the gauges of an existing textfile; none if the file does not exist. Lines of other programs are skipped. Throws
 * OUTPUT_FAILED, also for a link inside an export, and USAGE if the path is not a file or is a part of an export.
 */
export async function readTextfile(path: string): Promise<Metric[]> {
  const metrics = new Map<string, Sample[]>()
  for (const line of ((await readTextIfExists(await resolveTextfile(path))) ?? '').split('\n')) {
    const [, name, labels = '', value] = METRIC_LINE.exec(line) ?? []
    if (name === undefined || value === undefined) continue
    metrics.set(name, [...(metrics.get(name) ?? []), { labels: parseLabels(labels), value: Number(value) }])
  }
  return [...metrics].map(([name, samples]) => ({ name, help: '', samples }))
}

async function resolveTextfile(path: string): Promise<string> {
  return resolveOutputPath(path, { inputs: {}, exports: await exportsAround(path) }, 'Name a file.')
}

/** The folders of exports that contain a path. */
async function exportsAround(path: string): Promise<string[]> {
  const exports: string[] = []
  for (let folder = dirname(resolve(path)); ; folder = dirname(folder)) {
    if (await lstat(join(folder, MANIFEST_FILE)).catch(() => undefined)) exports.push(folder)
    if (folder === dirname(folder)) return exports
  }
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
  await writeAtomically(await resolveTextfile(path), textfileText(metrics))
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
