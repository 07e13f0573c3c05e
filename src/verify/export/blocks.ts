import type { Manifest, ManifestBlocks } from '../../core/model/manifest.ts'
import type { Findings } from '../../read/findings.ts'
import { expectNone, fillTable, type Lake, placeOf } from './checked-export.ts'
import { differs } from './files.ts'

const PLACE = 'manifest.json: blocks'

/** What the manifest says of a job of blocks has to agree with itself: its range, no wallets, what is missing. */
export function checkBlockRanges({ job, blocks, coverage, tables }: Manifest, findings: Findings): void {
  const isOfBlocks = job.kind === 'blocks'
  findings.expect(isOfBlocks === (blocks !== undefined), () =>
    differs('manifest.json', 'blocks', {
      expected: isOfBlocks ? 'the blocks of the job' : 'none',
      found: blocks,
    }),
  )
  if (blocks === undefined) return
  findings.expect(blocks.fromBlock === job.startBlock, () =>
    differs(PLACE, 'fromBlock', { expected: job.startBlock, found: blocks.fromBlock }),
  )
  findings.expect(blocks.toBlock === job.endBlock, () =>
    differs(PLACE, 'toBlock', { expected: job.endBlock, found: blocks.toBlock }),
  )
  findings.expect(
    coverage.length === 0,
    () => `${PLACE}: expected no wallets beside, found ${coverage.length}`,
  )
  const others = Object.keys(tables).filter((name) => name !== 'transactions')
  findings.expect(
    others.length === 0,
    () => `${PLACE}: expected transactions alone, found ${others.join(', ')}`,
  )
  checkMissing(blocks, findings)
}

/** Missing blocks are ranges in order that neither touch nor leave the whole. */
function checkMissing({ fromBlock, toBlock, missing }: ManifestBlocks, findings: Findings): void {
  const wrong = missing.find((range, at) => {
    const before = missing[at - 1]?.toBlock ?? fromBlock - 1
    return range.fromBlock <= before || range.toBlock <= range.fromBlock || range.toBlock > toBlock
  })
  findings.expect(wrong === undefined, () =>
    differs(PLACE, 'missing', { expected: 'ranges in order', found: wrong }),
  )
}

/** No row lies in a block that is missing. */
export async function checkMissingBlocks(lake: Lake): Promise<void> {
  const missing = lake.manifest.blocks?.missing ?? []
  if (missing.length === 0 || !lake.whole.has('transactions')) return
  await lake.rows.run('CREATE TABLE missing (a BIGINT, b BIGINT)')
  await fillTable(lake.rows, 'missing', {
    items: missing,
    toValues: ({ fromBlock, toBlock }) => `(${fromBlock}, ${toBlock})`,
  })
  await expectNone(lake, {
    sql: `SELECT f, r, block_number FROM (SELECT *, block_number::BIGINT AS block FROM transactions)
          ASOF JOIN missing ON block >= a WHERE block < b`,
    tell: (found) => {
      const place = placeOf(lake, 'transactions', found)
      return `${place}: block_number: expected no missing block, found ${found.block_number}`
    },
  })
}
