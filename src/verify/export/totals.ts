import type { ResultRow } from '../../read/scratch-database.ts'
import type { CheckedExport } from './checked-export.ts'

const ASSET = 'wallet_address, asset_type, asset_address, token_id'

/**
 * Checks for each wallet and asset that the ledger sums to the same value as the expected entries.
 *
 * Sums are exact: a value is split into three signed limbs of 26 digits, each summed in 128 bits (enough for 10^12
 * rows).
 */
export async function checkTotals({ database, findings }: CheckedExport): Promise<void> {
  const found = await database.all(
    `SELECT ${ASSET}, ${SUMS} FROM (${limbsSql('ledger')} UNION ALL ${limbsSql('expected')})
     GROUP BY ${ASSET} HAVING ${DIFFER} ORDER BY ${ASSET}`,
  )
  const mismatches = found.filter((one) => total(one, 'ledger') !== total(one, 'expected'))
  findings.expect(mismatches.length === 0, () => describeDifference(mismatches[0] as ResultRow))
  for (const one of mismatches.slice(1)) findings.addProblem(describeDifference(one))
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

function total(found: ResultRow, side: 'ledger' | 'expected'): bigint {
  const [high = 0n, middle = 0n, low = 0n] = [0, 1, 2].map((at) => BigInt(String(found[`${side}${at}`])))
  return (high * 10n ** 26n + middle) * 10n ** 26n + low
}

function describeDifference(found: ResultRow): string {
  const asset = [found.asset_type, found.asset_address, found.token_id]
    .filter((part) => part !== null)
    .join(' ')
  const [expected, ledger] = [total(found, 'expected'), total(found, 'ledger')]
  return `ledger total of ${found.wallet_address} in ${asset}: expected ${expected} from the facts, found ${ledger}`
}
