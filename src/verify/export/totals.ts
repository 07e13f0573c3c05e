import type { Found } from '../../read/scratch-database.ts'
import type { Lake } from './checked-export.ts'

const ASSET = 'wallet_address, asset_type, asset_address, token_id'

/**
 * For each wallet and asset the ledger's sum is the sum of its facts.
 *
 * Exact at any size: a value is three signed pieces of 26 digits, each summed in 128 bits (enough for 10^12 rows).
 */
export async function checkTotals({ rows, findings }: Lake): Promise<void> {
  const found = await rows.all(
    `SELECT ${ASSET}, ${SUMS} FROM (${pieces('ledger')} UNION ALL ${pieces('expected')})
     GROUP BY ${ASSET} HAVING ${DIFFER} ORDER BY ${ASSET}`,
  )
  const wrong = found.filter((one) => total(one, 'ledger') !== total(one, 'expected'))
  findings.expect(wrong.length === 0, () => tell(wrong[0] as Found))
  for (const one of wrong.slice(1)) findings.problem(tell(one))
}

const DIGITS = `lpad(ltrim(value, '-'), 78, '0')`
const SIGN = `CASE WHEN starts_with(value, '-') THEN -1 ELSE 1 END`

function pieces(table: 'ledger' | 'expected'): string {
  const cut = [1, 27, 53].map(
    (from, at) => `TRY_CAST(substr(${DIGITS}, ${from}, 26) AS HUGEINT) * ${SIGN} AS p${at}`,
  )
  return `SELECT ${ASSET}, '${table}' AS side, ${cut.join(', ')} FROM ${table}`
}

const SUMS = ['ledger', 'expected']
  .flatMap((side) => [0, 1, 2].map((at) => `${sum(at, side)}::VARCHAR AS ${side}${at}`))
  .join(', ')
/** Pieces may differ where totals do not (carries): those are joined before they are compared. */
const DIFFER = [0, 1, 2].map((at) => `${sum(at, 'ledger')} <> ${sum(at, 'expected')}`).join(' OR ')

function sum(at: number, side: string): string {
  return `coalesce(sum(p${at}) FILTER (WHERE side = '${side}'), 0)`
}

function total(found: Found, side: 'ledger' | 'expected'): bigint {
  const [high = 0n, middle = 0n, low = 0n] = [0, 1, 2].map((at) => BigInt(String(found[`${side}${at}`])))
  return (high * 10n ** 26n + middle) * 10n ** 26n + low
}

function tell(found: Found): string {
  const asset = [found.asset_type, found.asset_address, found.token_id]
    .filter((part) => part !== null)
    .join(' ')
  const [expected, ledger] = [total(found, 'expected'), total(found, 'ledger')]
  return `ledger total of ${found.wallet_address} in ${asset}: expected ${expected} by the facts, found ${ledger}`
}
