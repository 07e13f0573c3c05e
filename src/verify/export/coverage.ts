import { createHash } from 'node:crypto'
import type { Coverage, Manifest } from '../../core/model/manifest.ts'
import { quoteLiteral } from '../../core/platform/sql.ts'
import type { Findings } from '../../read/findings.ts'
import type { ResultRow, ScratchDatabase } from '../../read/scratch-database.ts'
import { type CheckedExport, expectNone, fillTable, rowLocation } from './checked-export.ts'
import { differenceMessage } from './files.ts'

/**
 * Checks that coverage is consistent with itself and the job: addresses sorted and unique, block ranges those of the
 * job.
 */
export function checkCoverage(manifest: Manifest, findings: Findings): void {
  const { job, coverage, completeToBlock } = manifest
  const location = 'manifest.json: coverage'
  const end = lastBlockEnd(manifest)
  const present = coverage.filter(({ removed }) => removed !== true)
  const smallest = present.reduce((min, { toBlock }) => Math.min(min, toBlock), end)
  if (job.kind !== 'blocks' && completeToBlock !== undefined)
    findings.expect(completeToBlock === smallest, () =>
      differenceMessage('manifest.json', 'completeToBlock', { expected: smallest, found: completeToBlock }),
    )
  findings.expect(
    end <= (job.endBlock ?? end),
    () => `${location}: toBlock ${end} is beyond endBlock ${job.endBlock}`,
  )
  findings.expect(job.addresses === present.length, () => {
    return differenceMessage('manifest.json: job', 'addresses', {
      expected: `${present.length} as in coverage`,
      found: job.addresses,
    })
  })
  const hash = createHash('sha256')
    .update(present.map(({ address }) => address).join('\n'))
    .digest('hex')
  findings.expect(job.addressesSha256 === hash, () => {
    return differenceMessage('manifest.json: job', 'addressesSha256', {
      expected: `${hash} (from coverage)`,
      found: job.addressesSha256,
    })
  })
  for (const [at, { address, fromBlock, toBlock }] of coverage.entries()) {
    const previousAddress = coverage[at - 1]?.address
    findings.expect(
      previousAddress === undefined || previousAddress < address,
      () => `${location}: expected addresses in order, found ${address} after ${previousAddress}`,
    )
    findings.expect(
      toBlock >= fromBlock,
      () => `${location}: ${address}: toBlock ${toBlock} is before ${fromBlock}`,
    )
    findings.expect(fromBlock === job.startBlock, () => {
      return differenceMessage(location, `fromBlock of ${address}`, {
        expected: job.startBlock,
        found: fromBlock,
      })
    })
  }
}

/** A refused or removed wallet has no rows above its coverage. Others may, until the next run has read them again. */
const rowsEnd = ({ toBlock, error, removed }: Coverage, end: number): number =>
  error !== undefined || removed === true ? toBlock : end

/** One past the last block of which the export may have rows. */
function lastBlockEnd({ coverage, tables }: Manifest): number {
  const files = Object.values(tables).flatMap((table) => table.files)
  return [...coverage, ...files].reduce((max, { toBlock }) => Math.max(max, toBlock), 0)
}

/** Creates the scratch table `wallets` from the manifest's coverage, each with the end of its rows. */
export async function createWalletsTable(database: ScratchDatabase, manifest: Manifest): Promise<void> {
  const end = lastBlockEnd(manifest)
  await database.run('CREATE TABLE wallets (address VARCHAR, to_block BIGINT)')
  await fillTable(database, 'wallets', {
    items: manifest.coverage,
    toValues: (wallet) => `(${quoteLiteral(wallet.address)}, ${rowsEnd(wallet, end)})`,
  })
}

/** Checks rows against coverage: known wallets only, the recorded number of transactions, no block before the first one. */
export async function checkWalletsCovered(checkedExport: CheckedExport): Promise<void> {
  for (const name of ['wallet_transactions', 'ledger'] as const) {
    if (!checkedExport.completeTables.has(name)) continue
    await expectNone(checkedExport, {
      sql: `SELECT f, r, wallet_address FROM ${name} ANTI JOIN wallets ON wallet_address = address`,
      describe: (found) => {
        return `${rowLocation(checkedExport, name, found)}: expected a wallet of the coverage, found ${found.wallet_address}`
      },
    })
  }
  if (checkedExport.completeTables.has('wallet_transactions')) await checkCounts(checkedExport)
}

async function checkCounts({ database, manifest, findings }: CheckedExport): Promise<void> {
  const found = await database.all(
    `SELECT wallet_address, count(*) AS n, min(block_number) AS first, max(block_number) AS last
     FROM wallet_transactions GROUP BY wallet_address`,
  )
  const countsByWallet = new Map(found.map((one) => [one.wallet_address, one]))
  for (const coverage of manifest.coverage)
    checkWallet({ coverage, counts: countsByWallet.get(coverage.address) }, { manifest, findings })
}

/** Coverage counts rejected records too, although they have no row: it may exceed the rows by up to that number. */
function checkWallet(
  { coverage, counts }: { coverage: Coverage; counts: ResultRow | undefined },
  { manifest, findings }: { manifest: Manifest; findings: Findings },
): void {
  const location = `wallet_transactions of ${coverage.address}`
  const rows = Number(counts?.n ?? 0)
  const missing = coverage.transactions - rows
  findings.expect(missing >= 0 && missing <= manifest.rejects, () => {
    return differenceMessage(location, 'rows', {
      expected: `${coverage.transactions} as in coverage`,
      found: rows,
    })
  })
  if (counts === undefined) return
  const blocks = [Number(counts.first), Number(counts.last)] as const
  const to = rowsEnd(coverage, lastBlockEnd(manifest))
  findings.expect(blocks[0] >= coverage.fromBlock && blocks[1] < to, () => {
    return differenceMessage(location, 'blocks', {
      expected: `${coverage.fromBlock} to ${to - 1}`,
      found: `${blocks[0]} to ${blocks[1]}`,
    })
  })
}
