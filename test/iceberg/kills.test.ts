import { mkdirSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { Job } from '../../src/core/model/model.ts'
import type { TableName } from '../../src/core/table/index.ts'
import type { LakeStore } from '../../src/iceberg/commit-export.ts'
import { commitToCatalog } from '../../src/iceberg/index.ts'
import { openStore } from '../../src/storage/open-store.ts'
import type { Store } from '../../src/storage/store.ts'
import { runCommand, startCommand } from '../helpers/command.ts'
import { faultyDiskEnv } from '../helpers/faulty-disk.ts'
import { growingChain, headJob, runOnce } from '../helpers/growing-chain.ts'
import { tempFolder } from '../helpers/temp-folder.ts'
import {
  commit,
  expectCurrent,
  ICEBERG,
  LAKE_KINDS,
  LAKES,
  type Lake,
  locationsIn,
  metadataOf,
} from './lake.ts'

const TWO_TABLES: readonly TableName[] = ['transactions', 'ledger']

class Killed extends Error {}

/** A store whose process ends before or after the given change takes effect. */
function killedAt(store: Store, at: number, when: 'before' | 'after'): LakeStore {
  let changes = 0
  const killable =
    <Values extends unknown[], Result>(change: (...values: Values) => Promise<Result>) =>
    async (...values: Values): Promise<Result> => {
      changes += 1
      if (changes === at && when === 'before') throw new Killed()
      const result = await change(...values)
      if (changes === at) throw new Killed()
      return result
    }
  return {
    folder: store.folder,
    read: (path) => store.read(path),
    ensureLocal: (files) => store.ensureLocal(files),
    pathsBelow: (folder) => store.pathsBelow(folder),
    create: killable((path, content) => store.create(path, content)),
    putText: killable((path, text) => store.putText(path, text)),
    remove: killable((path) => store.remove(path)),
  }
}

/** Commits the second night and is killed; resolves with false if the commit ended before that. */
async function commitAndKill(job: Job, at: number, when: 'before' | 'after'): Promise<boolean> {
  const store = await openStore(job)
  try {
    await commitToCatalog({ store: killedAt(store, at, when), location: job.store })
    return false
  } catch (error) {
    expect(error).toMatchObject({ cause: expect.any(Killed) })
    return true
  } finally {
    await store.close()
  }
}

/** Kills the commit of a second night before and after each of its changes. Resolves with the number of kills. */
async function killCommits(lake: Lake, fields: Partial<Job>): Promise<number> {
  const chain = await growingChain(200)
  const job = headJob(chain.url, { ...ICEBERG, ...lake.fields, ...fields })
  await runOnce(job)
  const restore = lake.remember(job)
  const [night] = (await metadataOf(job, 'ledger')).snapshots
  const files = await locationsIn(job, night)
  chain.advance(100)
  await runOnce(job)
  const { snapshots } = await metadataOf(job, 'ledger')
  let kills = 0
  for (const when of ['before', 'after'] as const)
    for (let at = 1; ; at += 1) {
      restore()
      if (!(await commitAndKill(job, at, when))) break
      kills += 1
      await commit(job)
      await expectCurrent(job)
      expect((await metadataOf(job, 'ledger')).snapshots).toHaveLength(snapshots.length)
      expect(await locationsIn(job, night)).toEqual(files)
    }
  return kills
}

test('a commit that is killed at any change of the folder is repaired by the next run', async () => {
  expect(await killCommits(await LAKES['a folder'](), { tables: ['ledger'] })).toBe(8)
})

test.for(LAKE_KINDS)(
  'a commit of two tables that is killed at any change of %s is repaired by the next run',
  { tags: ['long'] },
  async (kind) => {
    const kills = await killCommits(await LAKES[kind](), { tables: TWO_TABLES })
    expect(kills).toBe(kind === 'a REST catalog' ? 8 : 16)
  },
)

/** Steps that make a change durable, or change names, below the folders of Iceberg metadata. */
const METADATA_STEP = '^(\\w*sync|rename|link|unlink|rm) .*/metadata(/|$)'

test('a run that is killed at any of its steps in metadata is repaired by the next run', {
  tags: ['long'],
}, async () => {
  const chain = await growingChain(200)
  const job = headJob(chain.url, { output: join(tempFolder(), 'out') })
  const { name, chain: id, wallets, output } = job
  const addresses = wallets.map(({ address }) => address)
  const file = join(tempFolder(), 'job.json')
  const fields = {
    name,
    chain: id,
    addresses,
    output,
    tables: TWO_TABLES,
    format: 'parquet',
    table: 'iceberg',
  }
  writeFileSync(file, JSON.stringify(fields))
  const run = ['run', file, '--base-url', chain.url, '--quiet']
  expect(await runCommand(run)).toMatchObject({ exit: 0 })
  const [night] = (await metadataOf(job, 'ledger')).snapshots
  const files = await locationsIn(job, night)
  chain.advance(100)
  const states = join(tempFolder(), 'states')
  const scratch = tempFolder()
  mkdirSync(states)
  const plan = { how: 'copy', matching: METADATA_STEP, output, to: states, after: 'kill', scratch } as const
  const { exit, stderr } = await startCommand(run, faultyDiskEnv(plan)).ended
  expect([exit, stderr]).toEqual([0, ''])
  const names = readdirSync(states)
  expect(names.length).toBeGreaterThanOrEqual(30)
  for (const state of names) {
    rmSync(output, { recursive: true })
    renameSync(join(states, state), output)
    expect(await runCommand(run)).toMatchObject({ exit: 0 })
    await expectCurrent(job)
    expect((await metadataOf(job, 'ledger')).snapshots).toHaveLength(2)
    expect(await locationsIn(job, night)).toEqual(files)
  }
})
