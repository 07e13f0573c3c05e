import { formatValue } from '../../read/findings.ts'
import type { ResultRow } from '../../read/scratch-database.ts'
import { ATOMIC_SOURCE, hasAtomicFacts } from './atomic.ts'
import { type CheckedExport, expectNone, rowLocation } from './checked-export.ts'
import type { Source } from './expected-entries.ts'

/** Ledger columns that are determined by the underlying fact. */
const COMPARED = [
  'wallet_address',
  'transaction_hash',
  'source',
  'entry_type',
  'direction',
  'value',
  'counterparty_address',
  'counterparty_is_own',
  'asset_type',
  'asset_address',
  'asset_decimals',
  'token_id',
]

/**
 * Compares the ledger with `expected` by entry_id: no unknown, changed or missing entries.
 *
 * Only `transactions` says whether a transaction failed. Without that table, missing entries are not reported. Only
 * `erc20_transfers` says whether an event accounts for a wrapped coin. Without it, missing wraps are not reported.
 */
export async function checkLedgerRows(
  checkedExport: CheckedExport,
  sources: readonly Source[],
): Promise<void> {
  const compared = [...sources, ...(hasAtomicFacts(checkedExport) ? [ATOMIC_SOURCE] : [])]
  const sourceList = compared.map((source) => `'${source}'`).join(', ')
  const values = COMPARED.flatMap((column) => [
    `l.${column} AS found_${column}`,
    `e.${column} AS expected_${column}`,
  ])
  const differ = COMPARED.map((column) => `l.${column} IS DISTINCT FROM e.${column}`).join(' OR ')
  await expectNone(checkedExport, {
    sql: `SELECT l.f, l.r, l.entry_id, e.id IS NULL AS unknown, ${values.join(', ')}
          FROM ledger l LEFT JOIN expected e ON TRY_CAST(l.entry_id AS UUID) = e.id
          WHERE l.source IN (${sourceList}) AND (e.id IS NULL OR ${differ})`,
    describe: (found) => `${rowLocation(checkedExport, 'ledger', found)}: ${difference(found)}`,
  })
  if (!sources.includes('transactions')) return
  const certain = sources.includes('erc20_transfers') ? '' : ` WHERE e.entry_type NOT IN ('wrap', 'unwrap')`
  await expectNone(checkedExport, {
    sql: `SELECT e.* FROM expected e ANTI JOIN ledger l ON TRY_CAST(l.entry_id AS UUID) = e.id${certain}`,
    describe: (found) => {
      const row = `${found.entry_type} ${found.direction} of ${found.value} for ${found.wallet_address}`
      return `ledger: expected ${row} in ${found.transaction_hash} from ${found.source}, found no such row`
    },
  })
}

function difference(found: ResultRow): string {
  if (found.unknown)
    return `entry_id: expected the id of a fact in ${found.found_source}, found ${found.entry_id}`
  const differences = COMPARED.filter(
    (column) => found[`found_${column}`] !== found[`expected_${column}`],
  ).map((column) => {
    return `${column}: expected ${formatValue(found[`expected_${column}`])}, found ${formatValue(found[`found_${column}`])}`
  })
  return differences.join('; ')
}
