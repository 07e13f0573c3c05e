import { createHash } from 'node:crypto'
import { fillTable } from '../../core/duckdb/fill-table.ts'
import type { Coverage, Manifest, ManifestBlocks } from '../../core/model/manifest.ts'
import { isFormula } from '../../core/platform/csv-text.ts'
import { quoteLiteral } from '../../core/platform/sql.ts'
import { hasEscapedText } from '../../formats/index.ts'
import type { Findings } from '../../read/findings.ts'
import type { ResultRow, ScratchDatabase } from '../../read/scratch-database.ts'
import { type CheckedExport, expectNoRow } from './checked-export.ts'

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
    findings.expectValue('manifest.json', 'completeToBlock', { expected: smallest, found: completeToBlock })
  findings.expect(
    end <= (job.endBlock ?? end),
    () => `${location}: toBlock ${end} is beyond endBlock ${job.endBlock}`,
  )
  findings.expectValue('manifest.json: job', 'addresses', {
    expected: `${present.length} as in coverage`,
    found: job.addresses,
    holds: job.addresses === present.length,
  })
  const hash = createHash('sha256')
    .update(present.map(({ address }) => address).join('\n'))
    .digest('hex')
  findings.expectValue('manifest.json: job', 'addressesSha256', {
    expected: `${hash} (from coverage)`,
    found: job.addressesSha256,
    holds: job.addressesSha256 === hash,
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
    findings.expectValue(location, `fromBlock of ${address}`, { expected: job.startBlock, found: fromBlock })
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
  await fillTable(
    database.run,
    'wallets (address VARCHAR, to_block BIGINT)',
    manifest.coverage,
    (wallet) => `(${quoteLiteral(wallet.address)}, ${rowsEnd(wallet, end)})`,
  )
}

/** Checks rows against coverage: known wallets only, the recorded number of transactions, no block before the first one. */
export async function checkWalletsCovered(checkedExport: CheckedExport): Promise<void> {
  for (const name of ['wallet_transactions', 'ledger'] as const) {
    if (!checkedExport.completeTables.has(name)) continue
    await expectNoRow(
      checkedExport,
      name,
      `SELECT f, r, wallet_address FROM ${name} ANTI JOIN wallets ON wallet_address = address`,
      (row) => `expected a wallet of the coverage, found ${row.wallet_address}`,
    )
  }
  if (checkedExport.completeTables.has('wallet_transactions')) await checkCounts(checkedExport)
}

async function checkCounts({ database, manifest, findings }: CheckedExport): Promise<void> {
  const rows = await database.all(
    `SELECT wallet_address, count(*) AS n, min(block_number) AS first, max(block_number) AS last
     FROM wallet_transactions GROUP BY wallet_address`,
  )
  const countsByWallet = new Map(rows.map((row) => [row.wallet_address, row]))
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
  findings.expectValue(location, 'rows', {
    expected: `${coverage.transactions} as in coverage`,
    found: rows,
    holds: missing >= 0 && missing <= manifest.rejects,
  })
  if (counts === undefined) return
  const blocks = [Number(counts.first), Number(counts.last)] as const
  const to = rowsEnd(coverage, lastBlockEnd(manifest))
  findings.expectValue(location, 'blocks', {
    expected: `${coverage.fromBlock} to ${to - 1}`,
    found: `${blocks[0]} to ${blocks[1]}`,
    holds: blocks[0] >= coverage.fromBlock && blocks[1] < to,
  })
}

const LOCATION = 'manifest.json: blocks'

/**
 * Checks that the manifest of a block job is consistent: block range, no wallets, only `transactions`, missing blocks.
 */
export function checkBlockRanges({ job, blocks, coverage, tables }: Manifest, findings: Findings): void {
  const isBlockJob = job.kind === 'blocks'
  findings.expectValue('manifest.json', 'blocks', {
    expected: isBlockJob ? 'the blocks of the job' : 'none',
    found: blocks,
    holds: isBlockJob === (blocks !== undefined),
  })
  if (blocks === undefined) return
  findings.expectValue(LOCATION, 'fromBlock', { expected: job.startBlock, found: blocks.fromBlock })
  findings.expectValue(LOCATION, 'toBlock', { expected: job.endBlock, found: blocks.toBlock })
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
  findings.expectValue(LOCATION, 'missing', {
    expected: 'ranges in order',
    found: invalid,
    holds: invalid === undefined,
  })
}

/** Checks that no row is in a block that the manifest lists as missing. */
export async function checkMissingBlocks(checkedExport: CheckedExport): Promise<void> {
  const missing = checkedExport.manifest.blocks?.missing ?? []
  if (missing.length === 0 || !checkedExport.completeTables.has('transactions')) return
  await fillTable(
    checkedExport.database.run,
    'missing (a BIGINT, b BIGINT)',
    missing,
    ({ fromBlock, toBlock }) => `(${fromBlock}, ${toBlock})`,
  )
  await expectNoRow(
    checkedExport,
    'transactions',
    `SELECT f, r, block_number FROM (SELECT *, block_number::BIGINT AS block FROM transactions)
          ASOF JOIN missing ON block >= a WHERE block < b`,
    (row) => `block_number: expected no missing block, found ${row.block_number}`,
  )
}

/** Checks that rows have the wallet labels and the native symbol that the manifest records, if it records them. */
export async function checkJobSettings(checkedExport: CheckedExport): Promise<void> {
  await checkLabels(checkedExport)
  const { nativeSymbol } = checkedExport.manifest.job
  if (nativeSymbol === undefined || !checkedExport.completeTables.has('ledger')) return
  const symbol = nativeSymbol === null ? 'NULL' : quoteLiteral(nativeSymbol)
  await expectNoRow(
    checkedExport,
    'ledger',
    `SELECT f, r, asset_symbol FROM ledger
          WHERE asset_type = 'native' AND asset_symbol IS DISTINCT FROM ${symbol}`,
    (row) => `asset_symbol: expected ${symbol}, found ${row.asset_symbol}`,
  )
}

async function checkLabels(checkedExport: CheckedExport): Promise<void> {
  await fillTable(
    checkedExport.database.run,
    'labels (address VARCHAR, label VARCHAR)',
    checkedExport.manifest.coverage.filter(({ label }) => label !== undefined),
    ({ address, label }) => `(${quoteLiteral(address)}, ${label ? quoteLiteral(label) : 'NULL'})`,
  )
  for (const name of ['wallet_transactions', 'ledger'] as const) {
    if (!checkedExport.completeTables.has(name)) continue
    await expectNoRow(
      checkedExport,
      name,
      `SELECT f, r, wallet_label, label FROM ${name} JOIN labels ON wallet_address = address
            WHERE wallet_label IS DISTINCT FROM label`,
      ({ label, wallet_label }) =>
        `wallet_label: expected ${asCell(label, checkedExport)}, found ${asCell(wallet_label, checkedExport)}`,
    )
  }
}

/** The text as files of the export contain it, for messages. */
function asCell(value: unknown, { manifest: { job } }: CheckedExport): string {
  const text = String(value)
  return hasEscapedText(job) && isFormula(text) ? `'${text}` : text
}
