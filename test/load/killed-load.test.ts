import { mkdirSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { runCommand, startCommand } from '../helpers/command.ts'
import { tempFolder } from '../helpers/temp-folder.ts'
import { testSample } from '../helpers/test-sample.ts'
import { goodLake } from '../verify/export/model-export.ts'
import { duckdb, type Engine, postgres, sqlite } from './engines.ts'
import { expectLake, writeExport } from './scenarios.ts'

/** Starts a load and kills it `afterMs` after it created its scratch folder. Returns false if it had already ended. */
async function killLoad(
  args: readonly string[],
  env: NodeJS.ProcessEnv & { TMPDIR: string },
  afterMs: number,
) {
  const child = startCommand(args, env)
  const hasBegun = () => readdirSync(env.TMPDIR).some((name) => name.startsWith('walletlake-load-'))
  while (!hasBegun() && child.exitCode === null) await setTimeout(2)
  await setTimeout(afterMs)
  child.kill('SIGKILL')
  return (await child.ended).exit === null
}

async function expectWholeAfterKills(engine: Engine, kills: number) {
  const folder = join(tempFolder(), 'out')
  const lake = goodLake()
  await writeExport(folder, lake)
  const place = await engine.place()
  const env = { TMPDIR: join(tempFolder(), 'tmp') }
  mkdirSync(env.TMPDIR)
  const args = ['load', folder, '--to', place.address]
  let killed = 0
  for (let at = 0; at < kills; at += 1) if (await killLoad(args, env, 60 * at)) killed += 1
  expect(killed).toBeGreaterThan(0)
  expect(await runCommand(args, env)).toMatchObject({ exit: 0 })
  expect(readdirSync(env.TMPDIR)).toEqual([])
  await expectLake(place, lake)
}

const LOADS = [
  { engine: duckdb, kills: 2 },
  { engine: duckdb, kills: 6 },
  { engine: sqlite, kills: 6 },
]
testSample(
  1,
  LOADS,
  'the load after $kills killed ones into $engine.name is complete and leaves no files',
  ({ engine, kills }) => expectWholeAfterKills(engine, kills),
)

test.skipIf(postgres.skipped)(
  'the load after a killed one into postgres is complete and leaves no files',
  { tags: ['long'] },
  async () => {
    await postgres.start()
    await expectWholeAfterKills(postgres, 6)
    await postgres.stop()
  },
)
