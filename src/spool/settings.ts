import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { readTextIfAny, writeAtomically } from '../core/disk.ts'
import type { Manifest } from '../core/manifest.ts'
import type { Job } from '../core/model.ts'

/** What decides cells of an export and is not in its manifest. */
type Settings = {
  nativeSymbol: string | null
  escapeFormulas: boolean
  /** Of every wallet that has had one, by address. */
  labels: Record<string, string>
}

/**
 * What of a job has changed since its export was written, in words; empty where nothing has, or where nobody knows any
 * more. Rows made before would differ from those made now.
 */
export async function findChangedSettings(
  job: Job,
  { coverage }: Manifest,
  folder: string,
): Promise<string[]> {
  const before = await readSettings(folder)
  if (before === undefined) return []
  const known = new Set(coverage.map(({ address }) => address))
  const isRenamed = ({ address, label }: Job['wallets'][number]) =>
    known.has(address) && (before.labels[address] ?? null) !== label
  return [
    ...(before.nativeSymbol === job.nativeSymbol ? [] : ['nativeSymbol']),
    ...(job.format !== 'csv' || before.escapeFormulas === job.escapeFormulas ? [] : ['escapeFormulas']),
    ...(job.wallets.some(isRenamed) ? ['labels'] : []),
  ]
}

/** Keeps what the rows of the export were made with. */
export async function keepSettings(
  { nativeSymbol, escapeFormulas, wallets }: Job,
  folder: string,
): Promise<void> {
  const before = await readSettings(folder)
  const labels = { ...before?.labels }
  for (const { address, label } of wallets) {
    if (label === null) delete labels[address]
    else labels[address] = label
  }
  const settings: Settings = { nativeSymbol, escapeFormulas, labels }
  if (JSON.stringify(before) !== JSON.stringify(settings))
    await writeAtomically(join(folder, SETTINGS_FILE), `${JSON.stringify(settings)}\n`)
}

export async function forgetSettings(folder: string): Promise<void> {
  await rm(join(folder, SETTINGS_FILE), { force: true })
}

const SETTINGS_FILE = 'settings.json'

/** A file that is not ours to read says nothing: then nobody knows what the rows were made with. */
async function readSettings(folder: string): Promise<Settings | undefined> {
  try {
    const { nativeSymbol, escapeFormulas, labels } = JSON.parse(
      (await readTextIfAny(join(folder, SETTINGS_FILE))) ?? 'null',
    ) as Settings
    return { nativeSymbol, escapeFormulas, labels: { ...labels } }
  } catch {
    return undefined
  }
}
