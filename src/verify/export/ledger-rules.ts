import { wrongAmountSql } from './amount.ts'
import { type CheckedExport, expectNoRow } from './checked-export.ts'

/** Checks each ledger row against the rules of the contract, independently of the fact tables. */
export async function checkLedgerRules(checkedExport: CheckedExport): Promise<void> {
  const { database, findings } = checkedExport
  const broken = Object.values(RULES).map(
    (violation, at) => `bool_or(coalesce(${violation}, true)) AS rule${at}`,
  )
  const [result] = await database.all(`SELECT ${broken.join(', ')} FROM ledger`)
  for (const [at, [rule, violation]] of Object.entries(RULES).entries()) {
    if (result?.[`rule${at}`] !== true) findings.pass()
    else
      await expectNoRow(
        checkedExport,
        'ledger',
        `SELECT f, r, entry_type, direction, asset_type, value, amount, asset_decimals
            FROM ledger WHERE coalesce(${violation}, true)`,
        (row) =>
          `expected ${rule}, found ${row.asset_type} ${row.entry_type} ${row.direction} of ${row.value} (amount ${row.amount})`,
      )
  }
  await checkPositions(checkedExport)
}

const FEE = `(entry_type = 'fee')`
const NATIVE = `(asset_type = 'native')`
const ATOMIC = `(entry_type IN ('import', 'export'))`
const WRAP = `(entry_type IN ('wrap', 'unwrap'))`

/** SQL conditions on a row that breaks a rule, by rule; null counts as broken. */
const RULES: Readonly<Record<string, string>> = {
  'a negative value for direction out': `direction = 'out' AND (NOT starts_with(value, '-'))`,
  'a positive value for direction in': `direction = 'in' AND (starts_with(value, '-') OR value = '0')`,
  'amount = value / 10^asset_decimals, exactly': wrongAmountSql('amount', 'value', 'asset_decimals'),
  'a fee to be an outgoing native entry from transactions without counterparty': `${FEE} AND (direction <> 'out' OR asset_type <> 'native' OR source <> 'transactions'
             OR counterparty_address IS NOT NULL OR counterparty_is_own)`,
  'an asset_address for every asset but the native coin': `${NATIVE} = (asset_address IS NOT NULL)`,
  '18 decimals for the native coin': `${NATIVE} AND asset_decimals IS DISTINCT FROM 18`,
  'an ERC-721 value of 1 with 0 decimals': `asset_type = 'erc721' AND (ltrim(value, '-') <> '1' OR asset_decimals IS DISTINCT FROM 0)`,
  'a token_id for ERC-721 and ERC-1155 only': `(asset_type IN ('erc721', 'erc1155')) <> (token_id IS NOT NULL)`,
  'a source that matches the asset type': `NOT ((source = asset_type || '_transfers' AND NOT ${WRAP})
             OR ((${NATIVE} OR ${WRAP}) AND NOT ${ATOMIC} AND source IN ('transactions', 'internal_transactions'))
             OR (${NATIVE} AND ${ATOMIC} AND source = 'atomic_transactions'))`,
  'an import to be an incoming and an export an outgoing native entry without counterparty': `${ATOMIC} AND (NOT ${NATIVE} OR direction <> if(entry_type = 'import', 'in', 'out')
             OR counterparty_address IS NOT NULL OR counterparty_is_own OR method_name IS NOT NULL)`,
  'a wrap to be an incoming and an unwrap an outgoing ERC-20 entry of the counterparty': `${WRAP} AND (asset_type <> 'erc20' OR direction <> if(entry_type = 'wrap', 'in', 'out')
             OR asset_address IS DISTINCT FROM counterparty_address)`,
}

const RANK = `CASE WHEN ${FEE} THEN 0 WHEN source = 'transactions' THEN 1 WHEN source = 'internal_transactions' THEN 2
              WHEN source = 'erc20_transfers' THEN 3 WHEN source = 'erc721_transfers' THEN 4 ELSE 5 END`

/**
 * Checks that entry_index counts from 0 without gaps per wallet and transaction, in the order fee, native, internal,
 * ERC-20, ERC-721, ERC-1155.
 */
async function checkPositions(checkedExport: CheckedExport): Promise<void> {
  const previousColumns = ['transaction_hash', 'wallet_address', 'entry_index', 'rank']
  const lags = previousColumns.map((column) => `lag(${column}) OVER () AS before_${column}`).join(', ')
  const rows = `SELECT *, ${lags} FROM (SELECT *, ${RANK} AS rank FROM ledger)`
  const same = `(transaction_hash = before_transaction_hash AND wallet_address = before_wallet_address)`
  const expected = `CASE WHEN ${same} THEN before_entry_index + 1 ELSE 0 END`
  await expectNoRow(
    checkedExport,
    'ledger',
    `SELECT f, r, entry_index, ${expected} AS expected FROM (${rows}) WHERE entry_index <> ${expected}`,
    (row) => `entry_index: expected ${row.expected}, found ${row.entry_index}`,
  )
  await expectNoRow(
    checkedExport,
    'ledger',
    `SELECT f, r, source FROM (${rows}) WHERE ${same} AND rank < before_rank`,
    (row) =>
      `expected the order fee, native, internal, ERC-20, ERC-721, ERC-1155, found ${row.source} too late`,
  )
}
