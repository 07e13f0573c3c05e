import { productSql } from '../../read/amount-sql.ts'
import { wrongAmountSql } from './amount.ts'
import { MAX_U256 } from './cells.ts'
import { type CheckedExport, expectNoRow, hasRows } from './checked-export.ts'

/** Checks arithmetic within the fact tables: one chain, success from status, fee from gas, amount from decimals. */
export async function checkFactTables(checkedExport: CheckedExport): Promise<void> {
  await checkChain(checkedExport)
  if (checkedExport.completeTables.has('transactions')) {
    await checkSuccess(checkedExport)
    await checkFees(checkedExport)
    await checkEffectivePrices(checkedExport)
  }
  if (hasRows(checkedExport, 'erc20_transfers')) await checkAmounts(checkedExport)
}

async function checkChain({ database, findings, completeTables }: CheckedExport): Promise<void> {
  if (completeTables.size === 0) return
  const tables = [...completeTables]
    .map((name) => `SELECT chain_id, '${name}' AS name FROM ${name}`)
    .join(' UNION ALL ')
  const chains = await database.all(
    `SELECT chain_id, min(name) AS name FROM (${tables}) GROUP BY chain_id ORDER BY 1`,
  )
  findings.expect(
    chains.length <= 1,
    () =>
      `chain_id: expected one chain, found ${chains.map((chain) => `${chain.chain_id} in ${chain.name}`).join(', ')}`,
  )
}

async function checkSuccess(checkedExport: CheckedExport): Promise<void> {
  const expected = `CASE WHEN lower(status) IN ('1', '0x1', 'true', 'success') THEN true
                    WHEN lower(status) IN ('0', '0x0', 'false', 'failed', 'failure', 'error') THEN false END`
  await expectNoRow(
    checkedExport,
    'transactions',
    `SELECT f, r, status, success FROM transactions WHERE success IS DISTINCT FROM (${expected})`,
    (row) => `success: expected the meaning of status ${row.status}, found ${row.success}`,
  )
}

/**
 * Checks transaction_fee = gas_used × effective_gas_price, or × gas_price if that is null, + extra_fee, exactly. The fee and
 * extra_fee must be null if either factor is null or the sum is not between 0 and 2^256-1.
 */
async function checkFees(checkedExport: CheckedExport): Promise<void> {
  const { database, findings } = checkedExport
  // Most fees fit into 128 bits, in which they are computed in a tenth of the time.
  const [uncertain] = await database.all(
    `SELECT count(*) AS n FROM transactions WHERE NOT ${HAS_EXPECTED_SMALL_FEE}`,
  )
  if (uncertain?.n === 0n) return void findings.pass()
  const { carries, product } = productSql('gas_used', 'price')
  const fits = `gas_used >= 0 AND (length(fee) < ${MAX_U256.length} OR (length(fee) = ${MAX_U256.length} AND fee <= '${MAX_U256}'))`
  const sum = `CASE WHEN coalesce(extra_fee, '0') = '0' THEN ${product} ELSE ((${product})::BIGNUM + extra_fee::BIGNUM)::VARCHAR END`
  const prices = 'SELECT *, coalesce(effective_gas_price, gas_price) AS price FROM transactions'
  await expectNoRow(
    checkedExport,
    'transactions',
    `SELECT f, r, gas_used, price, extra_fee, transaction_fee
          FROM (SELECT *, ${sum} AS fee FROM (SELECT *, ${carries} FROM (${prices})))
          WHERE transaction_fee IS DISTINCT FROM (CASE WHEN ${fits} THEN fee END)
            OR (transaction_fee IS NULL AND extra_fee IS NOT NULL)`,
    (row) => {
      const extra = (row.extra_fee ?? '0') === '0' ? '' : ` + ${row.extra_fee}`
      return `transaction_fee: expected ${row.gas_used} × ${row.price}${extra}, found ${row.transaction_fee}`
    },
  )
}

/** Whether a fee, its factors and its extra part are small and agree, or all but one factor are null. */
const HAS_EXPECTED_SMALL_FEE = `coalesce(
  CASE WHEN gas_used >= 0 AND length(coalesce(effective_gas_price, gas_price)) < 20 AND length(coalesce(extra_fee, '')) < 38
    THEN transaction_fee = (gas_used::HUGEINT * TRY_CAST(coalesce(effective_gas_price, gas_price) AS HUGEINT)
      + coalesce(TRY_CAST(extra_fee AS HUGEINT), 0))::VARCHAR
    ELSE transaction_fee IS NULL AND extra_fee IS NULL AND (gas_used IS NULL OR coalesce(effective_gas_price, gas_price) IS NULL)
  END, false)`

/** Compares whole numbers as text without leading zeros. */
const isAbove = (a: string, b: string) =>
  `(length(${a}) > length(${b}) OR (length(${a}) = length(${b}) AND ${a} > ${b}))`

/**
 * Checks effective_gas_price: the gas price of transactions without a fee cap, either of them without a type, and at most the
 * listed price otherwise, because that is the price that was paid or the cap.
 */
async function checkEffectivePrices(checkedExport: CheckedExport): Promise<void> {
  const isWrong = `CASE WHEN transaction_type IN (0, 1) THEN effective_gas_price IS DISTINCT FROM gas_price
    WHEN transaction_type IS NULL
      THEN effective_gas_price IS NOT NULL AND effective_gas_price IS DISTINCT FROM gas_price
    ELSE ${isAbove('effective_gas_price', 'gas_price')} END`
  await expectNoRow(
    checkedExport,
    'transactions',
    `SELECT f, r, transaction_type, gas_price, effective_gas_price FROM transactions WHERE ${isWrong}`,
    (row) => {
      const type = row.transaction_type ?? 'unknown'
      return `effective_gas_price: found ${row.effective_gas_price} for gas_price ${row.gas_price}, type ${type}`
    },
  )
}

async function checkAmounts(checkedExport: CheckedExport): Promise<void> {
  await expectNoRow(
    checkedExport,
    'erc20_transfers',
    `SELECT f, r, value, token_decimals, amount FROM erc20_transfers
          WHERE ${wrongAmountSql('amount', 'value', 'token_decimals')}`,
    (row) => `amount: expected ${row.value} / 10^${row.token_decimals}, found ${row.amount}`,
  )
}
