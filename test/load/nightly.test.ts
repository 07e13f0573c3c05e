import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { loadInto } from '../../src/load-into.ts'
import { TABLE_NAMES } from '../../src/table/index.ts'
import { createDice } from '../helpers/dice.ts'
import {
  asIs,
  expectSameAsFresh,
  forked,
  growingChain,
  headJob,
  lacking,
  rowsIn,
  runOnce,
} from '../helpers/growing-chain.ts'
import type { TextRow } from '../helpers/read-output.ts'
import type { Cells } from '../verify/lake.ts'
import { duckdb, type Place, postgres, sqlite } from './engines.ts'
import { inOrder } from './hostile-lake.ts'

const NIGHTS = 30
const BLOCKS_A_NIGHT = 14
/** The index may list this many of its last blocks late, and the chain replace them. */
const UNSETTLED = 28

const engines = [duckdb, postgres, sqlite].filter(({ skipped }) => !skipped)

beforeAll(() => Promise.all(engines.map((engine) => engine.start())))
afterAll(() => Promise.all(engines.map((engine) => engine.stop())))

test.for(['csv', 'parquet'] as const)(
  'thirty nights of %s with late and reorganised blocks, loaded each night, equal one run at the end',
  { timeout: 300_000 },
  async (format) => {
    const chain = await growingChain(BLOCKS_A_NIGHT)
    const job = headJob(chain.url, { count: 12, format, escapeFormulas: false })
    const dice = createDice(format === 'csv' ? 1 : 2)
    const targets = await Promise.all(
      engines.map(async ({ name, place }) => ({ name, place: await place() })),
    )
    for (let night = 1; night <= NIGHTS; night += 1) {
      const head = night * BLOCKS_A_NIGHT
      const young = () => dice.between(Math.max(1, head - UNSETTLED + 1), head)
      const [late, replaced] = [lacking(young(), young()), forked(young(), young())]
      chain.shown.as = night === NIGHTS ? asIs : (items) => late(replaced(items))
      await runOnce(job, night === 1 ? {} : { rereadBlocks: UNSETTLED })
      for (const { place } of targets) await loadInto(job.output, place.to)
      if (night % 10 === 0) {
        await expectSameAsFresh(job)
        await expectLoaded(targets, await rowsIn(job.output))
      }
      await chain.advance(BLOCKS_A_NIGHT)
    }
    const changes = changesIn(job.output)
    for (const kind of ['added', 'removed'])
      expect(changes.filter((one) => one === kind).length).toBeGreaterThan(50)
    await chain.end()
  },
)

async function expectLoaded(
  targets: readonly { name: string; place: Place }[],
  exported: Awaited<ReturnType<typeof rowsIn>>,
): Promise<void> {
  for (const table of TABLE_NAMES) {
    expect(exported[table].length, table).toBeGreaterThan(50)
    for (const { name, place } of targets) {
      const cells = exported[table].map((row) => asCells(row, name === 'duckdb'))
      expect(inOrder(await place.rows(table)), `${table} in ${name}`).toEqual(inOrder(cells))
    }
  }
}

/** A row as an engine holds it; not every one holds U+0000. */
function asCells(row: TextRow, holdsNul: boolean): Cells {
  const held = (cell: string) => (holdsNul ? cell : cell.replaceAll('\0', '\ufffd'))
  return Object.fromEntries(
    Object.entries(row).map(([name, cell]) => [name, cell === '' ? null : held(cell)]),
  )
}

/** The kinds of all changes that an export lists. */
function changesIn(output: string): string[] {
  const folder = join(output, 'changes')
  const lines = readdirSync(folder).flatMap((file) =>
    readFileSync(join(folder, file), 'utf8').trim().split('\n'),
  )
  return lines.map((line) => (JSON.parse(line) as { change: string }).change)
}
