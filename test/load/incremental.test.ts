// @module-tag long

import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { DEFAULT_TABLES } from '../../src/core/table/index.ts'
import { loadInto } from '../../src/load/load.ts'
import {
  forked,
  growingChain,
  headJob,
  rowsIn,
  runOnce,
  unchanged,
  withoutBlocks,
} from '../helpers/growing-chain.ts'
import type { TextRow } from '../helpers/read-output.ts'
import { createSeededRandom } from '../helpers/seeded-random.ts'
import type { Cells } from '../verify/export/model-export.ts'
import { duckdb, type Place, postgres, sqlite } from './engines.ts'
import { inOrder } from './hostile-export.ts'

/** All incremental runs together cover the whole chain. */
const CASES = [
  { format: 'csv', nights: 4, blocksANight: 105 },
  { format: 'parquet', nights: 2, blocksANight: 210 },
] as const

const engines = [duckdb, postgres, sqlite].filter(({ skipped }) => !skipped)

beforeAll(() => Promise.all(engines.map((engine) => engine.start())))
afterAll(() => Promise.all(engines.map((engine) => engine.stop())))

test.for(CASES)(
  '$nights nightly loads of $format with late and reorganised blocks leave the rows of the export',
  async ({ format, nights, blocksANight }) => {
    const chain = await growingChain(blocksANight)
    const job = headJob(chain.url, { format, escapeFormulas: false })
    const random = createSeededRandom(nights)
    const targets = await Promise.all(
      engines.map(async ({ name, place }) => ({ name, place: await place() })),
    )
    // Number of last blocks that the service may list late and the chain may replace.
    const reorgDepth = 2 * blocksANight
    for (let night = 1; night <= nights; night += 1) {
      const head = night * blocksANight
      const young = () =>
        Array.from({ length: 8 }, () => random.between(Math.max(1, head - reorgDepth + 1), head))
      const [late, replaced] = [withoutBlocks(...young()), forked(...young())]
      chain.listing.view = night === nights ? unchanged : (items) => late(replaced(items))
      await runOnce(job, night === 1 ? {} : { lookbackBlocks: reorgDepth })
      const isChecked = night % (nights / 2) === 0
      // DuckDB loads after every run, the others load the changes of the runs between two checks together.
      for (const { name, place } of targets)
        if (isChecked || name === 'duckdb') await loadInto(job.output, place.to)
      if (isChecked) await expectLoaded(targets, await rowsIn(job.output))
      await chain.advance(blocksANight)
    }
    const changes = changesIn(job.output)
    for (const kind of ['added', 'removed'])
      expect(changes.filter((one) => one === kind).length).toBeGreaterThan(50)
  },
)

async function expectLoaded(
  targets: readonly { name: string; place: Place }[],
  exported: Awaited<ReturnType<typeof rowsIn>>,
): Promise<void> {
  for (const table of DEFAULT_TABLES) {
    expect(exported[table].length, table).toBeGreaterThan(5)
    for (const { name, place } of targets) {
      const cells = exported[table].map((row) => asCells(row, name === 'duckdb'))
      expect(inOrder(await place.rows(table)), `${table} in ${name}`).toEqual(inOrder(cells))
    }
  }
}

/** A row as an engine stores it. Not every engine supports U+0000. */
function asCells(row: TextRow, holdsNul: boolean): Cells {
  const held = (cell: string) => (holdsNul ? cell : cell.replaceAll('\0', '\ufffd'))
  return Object.fromEntries(
    Object.entries(row).map(([name, cell]) => [name, cell === '' ? null : held(cell)]),
  )
}

/** Reads the kinds of all changes that an export lists. */
function changesIn(output: string): string[] {
  const folder = join(output, 'changes')
  const lines = readdirSync(folder).flatMap((file) =>
    readFileSync(join(folder, file), 'utf8').trim().split('\n'),
  )
  return lines.map((line) => (JSON.parse(line) as { change: string }).change)
}
