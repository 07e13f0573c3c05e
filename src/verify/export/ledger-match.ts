import { formatValue } from '../../read/findings.ts'
import type { ResultRow } from '../../read/scratch-database.ts'
import { ATOMIC_SOURCE, hasAtomicFacts } from './atomic.ts'
import { type CheckedExport, expectNone, expectNoRow } from './checked-export.ts'
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
  const differ = COMPARED.map((column) => `l.${column} IS DISTINCT FROM e.${column}`).join(' OR ')
  const isWrong = `l.source IN (${sourceList}) AND (e.id IS NULL OR ${differ})`
  const certain = sources.includes('erc20_transfers') ? 'true' : `e.entry_type NOT IN ('wrap', 'unwrap')`
  const isMissing = sources.includes('transactions') ? `l.entry_id IS NULL AND ${certain}` : 'false'
  const { database, findings } = checkedExport
  // One pass over both tells whether there are differences, which other queries list.
  const [differences] = await database.all(
    `SELECT count(*) FILTER (WHERE ${isWrong}) AS wrong, count(*) FILTER (WHERE ${isMissing}) AS missing
     FROM ledger l FULL JOIN expected e ON l.entry_id = e.id`,
  )
  if (differences?.wrong === 0n) findings.pass()
  else await listWrongRows(checkedExport, isWrong)
  if (differences?.missing === 0n) findings.pass()
  else await listMissingRows(checkedExport, certain)
}

async function listWrongRows(checkedExport: CheckedExport, isWrong: string): Promise<void> {
  const values = COMPARED.flatMap((column) => [
    `l.${column} AS found_${column}`,
    `e.${column} AS expected_${column}`,
  ])
  await expectNoRow(
    checkedExport,
    'ledger',
    `SELECT l.f, l.r, l.entry_id, e.id IS NULL AS unknown, ${values.join(', ')}
          FROM ledger l LEFT JOIN expected e ON l.entry_id = e.id WHERE ${isWrong}`,
    difference,
  )
}

async function listMissingRows(checkedExport: CheckedExport, certain: string): Promise<void> {
  await expectNone(
    checkedExport,
    `SELECT e.* FROM expected e ANTI JOIN ledger l ON l.entry_id = e.id WHERE ${certain}`,
    (row) =>
      `ledger: expected ${row.entry_type} ${row.direction} of ${row.value} for ${row.wallet_address} in ${row.transaction_hash} from ${row.source}, found no such row`,
  )
}

function difference(row: ResultRow): string {
  if (row.unknown) return `entry_id: expected the id of a fact in ${row.found_source}, found ${row.entry_id}`
  const differences = COMPARED.filter((column) => row[`found_${column}`] !== row[`expected_${column}`]).map(
    (column) => {
      return `${column}: expected ${formatValue(row[`expected_${column}`])}, found ${formatValue(row[`found_${column}`])}`
    },
  )
  return differences.join('; ')
}

const ASSET = 'wallet_address, asset_type, asset_address, token_id'

/**
 * Checks for each wallet and asset that the ledger sums to the same value as the expected entries.
 *
 * Sums are exact: a value is split into three signed limbs of 26 digits, each summed in 128 bits (enough for 10^12
 * rows).
 */
export async function checkTotals({ database, findings }: CheckedExport): Promise<void> {
  const sums = await database.all(
    `SELECT ${ASSET}, ${SUMS} FROM (${limbsSql('ledger')} UNION ALL ${limbsSql('expected')})
     GROUP BY ${ASSET} HAVING ${DIFFER} ORDER BY ${ASSET}`,
  )
  const mismatches = sums.filter((row) => total(row, 'ledger') !== total(row, 'expected'))
  findings.expect(mismatches.length === 0, () => describeDifference(mismatches[0] as ResultRow))
  for (const row of mismatches.slice(1)) findings.addProblem(describeDifference(row))
}

const DIGITS = `lpad(ltrim(value, '-'), 78, '0')`
const SIGN = `CASE WHEN starts_with(value, '-') THEN -1 ELSE 1 END`

function limbsSql(table: 'ledger' | 'expected'): string {
  const limbs = [1, 27, 53].map(
    (from, at) => `TRY_CAST(substr(${DIGITS}, ${from}, 26) AS HUGEINT) * ${SIGN} AS p${at}`,
  )
  return `SELECT ${ASSET}, '${table}' AS side, ${limbs.join(', ')} FROM ${table}`
}

const SUMS = ['ledger', 'expected']
  .flatMap((side) => [0, 1, 2].map((at) => `${sum(at, side)}::VARCHAR AS ${side}${at}`))
  .join(', ')
/** Limbs can differ although totals agree (carries), so candidates are compared again as whole totals. */
const DIFFER = [0, 1, 2].map((at) => `${sum(at, 'ledger')} <> ${sum(at, 'expected')}`).join(' OR ')

function sum(at: number, side: string): string {
  return `coalesce(sum(p${at}) FILTER (WHERE side = '${side}'), 0)`
}

function total(row: ResultRow, side: 'ledger' | 'expected'): bigint {
  const [high = 0n, middle = 0n, low = 0n] = [0, 1, 2].map((at) => BigInt(String(row[`${side}${at}`])))
  return (high * 10n ** 26n + middle) * 10n ** 26n + low
}

function describeDifference(row: ResultRow): string {
  const asset = [row.asset_type, row.asset_address, row.token_id].filter((part) => part !== null).join(' ')
  const [expected, ledger] = [total(row, 'expected'), total(row, 'ledger')]
  return `ledger total of ${row.wallet_address} in ${asset}: expected ${expected} from the facts, found ${ledger}`
}
