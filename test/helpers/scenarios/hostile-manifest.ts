import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'vitest'
import type { Manifest } from '../../../src/core/model/manifest.ts'
import { run } from '../../../src/export/run.ts'
import { compactOutput } from '../../../src/files/compact.ts'
import { loadInto } from '../../../src/load/load.ts'
import { verifyOutput } from '../../../src/verify/export/verify-output.ts'
import type { Place } from '../../load/engines.ts'
import { folderTree } from '../folder-tree.ts'
import { HOSTILE_PATHS } from '../hostile-paths.ts'
import { publishedFolder } from './published-export.ts'
import { jobOf, PREFIX, type ScenarioState } from './state.ts'

/** Object keys that lead out of the prefix when they are used as paths. */
const HOSTILE_KEYS = [
  'runs/../../20240506T070809Z-abcdef.json',
  'runs//etc/20240506T070809Z-abcdef.json',
  'runs/..\\20240506T070809Z-abcdef.json',
  'changes/../../canary/file.csv',
  'ledger/../../canary/file.csv',
  'transactions/../../../canary/file.csv',
  '../canary/file.csv',
]

/**
 * Simulates an attacker who can write to the output: the manifest lists a path that leads out of it, and the object store has keys
 * with `..`. Every command must refuse the manifest and leave everything outside the output unchanged. Restores the manifest at the
 * end; the keys stay.
 */
export async function checkHostileManifest(state: ScenarioState, target: Place): Promise<void> {
  const { bucket, output, random } = state
  const original = readManifestText(state)
  if (original === undefined) return
  const canary = join(output, '..', 'canary')
  mkdirSync(canary, { recursive: true })
  writeFileSync(join(canary, 'file.csv'), 'a secret')
  for (const key of HOSTILE_KEYS) bucket?.objects.set(`${PREFIX}/${key}`, Buffer.from('{}'))
  const manifest = JSON.parse(original) as Manifest
  const files = Object.values(manifest.tables).flatMap(({ files }) => files)
  const path = random.pick(HOSTILE_PATHS)
  random.pick(files).path = path
  writeManifestText(state, JSON.stringify(manifest))
  try {
    const before = treeOutside(state)
    await expectRefused(state, target, path)
    expect([path, treeOutside(state)]).toEqual([path, before])
    expect(readFileSync(join(canary, 'file.csv'), 'utf8')).toBe('a secret')
  } finally {
    writeManifestText(state, original)
  }
}

async function expectRefused(state: ScenarioState, target: Place, path: string): Promise<void> {
  const job = jobOf(state)
  const { code } = await run([job], { retry: { firstDelayMs: 1, maxDelayMs: 2, retries: 30 } })
  expect([path, code]).toEqual([path, 'VERIFY_FAILED'])
  const refused = { code: 'VERIFY_FAILED' }
  await expect(compactOutput(job, {})).rejects.toMatchObject(refused)
  const published = await publishedFolder(state)
  expect((await verifyOutput(published)).ok).toBe(false)
  await expect(loadInto(published, target.to)).rejects.toMatchObject(refused)
}

/** Everything in the scenario's folder except the output and the copy of what is published. */
const treeOutside = ({ output }: ScenarioState) =>
  folderTree(join(output, '..')).filter((line) => !/^(out|published)[/ ]/.test(line))

const manifestFile = ({ output }: ScenarioState) => join(output, 'manifest.json')
const MANIFEST_KEY = `${PREFIX}/manifest.json`

function readManifestText(state: ScenarioState): string | undefined {
  if (state.bucket !== undefined) return state.bucket.objects.get(MANIFEST_KEY)?.toString()
  return existsSync(manifestFile(state)) ? readFileSync(manifestFile(state), 'utf8') : undefined
}

function writeManifestText(state: ScenarioState, text: string): void {
  if (state.bucket === undefined) writeFileSync(manifestFile(state), text)
  else state.bucket.objects.set(MANIFEST_KEY, Buffer.from(text))
}
