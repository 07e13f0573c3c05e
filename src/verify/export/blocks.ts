import type { Manifest, ManifestBlocks } from '../../core/model/manifest.ts'
import type { Findings } from '../../read/findings.ts'
import { type CheckedExport, expectNone, fillTable, rowLocation } from './checked-export.ts'
import { differenceMessage } from './files.ts'

const LOCATION = 'manifest.json: blocks'

/**
 * Checks that the manifest of a block job is consistent: block range, no wallets, only `transactions`, missing blocks.
 */
export function checkBlockRanges({ job, blocks, coverage, tables }: Manifest, findings: Findings): void {
  const isBlockJob = job.kind === 'blocks'
  findings.expect(isBlockJob === (blocks !== undefined), () =>
    differenceMessage('manifest.json', 'blocks', {
      expected: isBlockJob ? 'the blocks of the job' : 'none',
      found: blocks,
    }),
  )
  if (blocks === undefined) return
  findings.expect(blocks.fromBlock === job.startBlock, () =>
    differenceMessage(LOCATION, 'fromBlock', { expected: job.startBlock, found: blocks.fromBlock }),
  )
  findings.expect(blocks.toBlock === job.endBlock, () =>
    differenceMessage(LOCATION, 'toBlock', { expected: job.endBlock, found: blocks.toBlock }),
  )
  findings.expect(coverage.length === 0, () => `${LOCATION}: expected no wallets, found ${coverage.length}`)
  const others = Object.keys(tables).filter((name) => name !== 'transactions')
  findings.expect(
    others.length === 0,
    () => `${LOCATION}: expected only the table transactions, found ${others.join(', ')}`,
  )
  checkMissing(blocks, findings)
}

/** Checks that the missing ranges are sorted, separate (not adjacent), not empty and within the job's block range. */
function checkMissing({ fromBlock, toBlock, missing }: ManifestBlocks, findings: Findings): void {
  const invalid = missing.find((range, at) => {
    const previousEnd = missing[at - 1]?.toBlock ?? fromBlock - 1
    return range.fromBlock <= previousEnd || range.toBlock <= range.fromBlock || range.toBlock > toBlock
  })
  findings.expect(invalid === undefined, () =>
    differenceMessage(LOCATION, 'missing', { expected: 'ranges in order', found: invalid }),
  )
}

/** Checks that no row is in a block that the manifest lists as missing. */
export async function checkMissingBlocks(checkedExport: CheckedExport): Promise<void> {
  const missing = checkedExport.manifest.blocks?.missing ?? []
  if (missing.length === 0 || !checkedExport.completeTables.has('transactions')) return
  await checkedExport.database.run('CREATE TABLE missing (a BIGINT, b BIGINT)')
  await fillTable(checkedExport.database, 'missing', {
    items: missing,
    toValues: ({ fromBlock, toBlock }) => `(${fromBlock}, ${toBlock})`,
  })
  await expectNone(checkedExport, {
    sql: `SELECT f, r, block_number FROM (SELECT *, block_number::BIGINT AS block FROM transactions)
          ASOF JOIN missing ON block >= a WHERE block < b`,
    describe: (found) => {
      const location = rowLocation(checkedExport, 'transactions', found)
      return `${location}: block_number: expected no missing block, found ${found.block_number}`
    },
  })
}
