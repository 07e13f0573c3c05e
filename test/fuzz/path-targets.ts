import { mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { isPathProblem, manifestProblems } from '../../src/core/model/manifest-schema.ts'
import { openObjectFolder } from '../../src/storage/object-folder.ts'
import { folderStore } from '../../src/storage/store.ts'
import { folderTree } from '../helpers/folder-tree.ts'
import { HOSTILE_PATHS } from '../helpers/hostile-paths.ts'

/** Paths of all kinds, composed of typical fragments. */
const paths = fc.oneof(
  fc.constantFrom(...HOSTILE_PATHS),
  fc
    .array(
      fc.oneof(
        fc.constantFrom(
          '..',
          '.',
          '/',
          '\\',
          '%2e',
          '\0',
          '\n',
          'ledger',
          'runs',
          'changes',
          'raw',
          'day=2024-01-01',
          '.csv',
          '~',
          'C:',
        ),
        fc.string({ unit: 'binary', maxLength: 3 }),
      ),
      { maxLength: 10 },
    )
    .map((pieces) => pieces.join('')),
)

/** Untrusted paths in manifests and object keys: nothing outside the output may be written or removed. */
export function pathTargets(manifest: object) {
  return [
    {
      name: 'paths in manifests',
      input: paths,
      read: (path: unknown, folder: string) =>
        withCanary(folder, (output) => readListed(manifest, path as string, output)),
      cost: 8,
    },
    {
      name: 'keys of objects',
      input: paths,
      read: (path: unknown, folder: string) =>
        withCanary(folder, (output) => putObject(path as string, output)),
      cost: 8,
    },
  ]
}

async function readListed(manifest: object, path: string, output: string): Promise<void> {
  const table = {
    rows: 0,
    columns: [],
    files: [{ path, rows: 0, bytes: 0, sha256: 'a'.repeat(64), fromBlock: 0, toBlock: 1 }],
  }
  const problems = manifestProblems({ ...manifest, tables: { ledger: table } })
  // The rest of the manifest is valid, so only the path may be rejected.
  if (problems.some((problem) => !isPathProblem(problem)))
    throw new Error('the rest of the manifest is not valid')
  if (problems.length > 0) return
  const store = folderStore(output)
  await store.putText(path, 'written')
  await store.remove(path)
}

async function putObject(path: string, output: string): Promise<void> {
  const objects = await openObjectFolder({ output }, 'objects')
  await objects.putText(path, 'written')
  if (!(await objects.paths('')).includes(path)) throw new Error(`an object has another path: ${path}`)
}

/**
 * Runs `work` in a folder next to a canary folder and checks that the canary and their parent folder are
 * unchanged.
 */
export async function withCanary(folder: string, work: (output: string) => Promise<void>): Promise<void> {
  const output = join(folder, 'output')
  for (const name of [output, join(folder, 'canary')]) mkdirSync(name)
  writeFileSync(join(folder, 'canary', 'file.csv'), 'kept')
  const before = folderTree(join(folder, 'canary'))
  const thrown: unknown = await work(output).catch((error: unknown) => error)
  const isUnchanged = folderTree(join(folder, 'canary')).join() === before.join()
  if (readdirSync(folder).join() !== 'canary,output' || !isUnchanged)
    throw new Error('something outside the output was changed')
  if (thrown !== undefined) throw thrown
}
