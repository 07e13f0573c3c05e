import { createHash } from 'node:crypto'
import { type TableName, tableByName } from '../../../src/core/table/index.ts'

/** Cells by column, as CSV text; null if empty. */
export type Cells = Record<string, string | null>
export type Lake = Record<TableName, Cells[]>

export const CHAIN = '43114'
const ZERO = `0x${'0'.repeat(40)}`
export const [A, B, C, X] = ['1', '2', '3', '9'].map((digit) => `0x${digit.repeat(40)}`) as [
  string,
  string,
  string,
  string,
]
export const COIN = `0x${'c0'.repeat(20)}`
export const BIG = 2n ** 256n - 1n
const [T1, T2, T3, T4, T5, T6] = [1, 2, 3, 4, 5, 6].map((n) => `0x${String(n).repeat(64)}`) as [
  ...[string, string, string, string, string, string],
]

const PLACES: Record<string, readonly [block: number, index: number]> = {
  [T1]: [100, 0],
  [T2]: [100, 3],
  [T3]: [205, 1],
  [T4]: [300, 0],
  [T5]: [300, 2],
  [T6]: [301, 0],
}

/**
 * A valid export of three wallets and six transactions: payments, transfers of every kind including a batch, mints
 * whose sum exceeds 2^256, a failed transaction, a transfer to oneself, reverted and delegate calls, and names that
 * look like formulas.
 */
export function goodLake(): Lake {
  const lake = {
    transactions: [
      native(T1, A, B, { value: '5000000000000000000', nonce: '7', transaction_type: '2' }),
      native(T2, B, COIN, { method_name: 'transfer(address,uint256)', method_id: '0xa9059cbb' }),
      native(T3, X, COIN, { from_name: 'He said "hi",\nand left' }),
      native(T4, C, X, { value: '1', status: '0', success: 'false' }),
      native(T5, A, A, {
        value: '2',
        gas_price: String(10n ** 60n),
        transaction_fee: String(21000n * 10n ** 60n),
      }),
      native(T6, X, COIN, { status: null, success: null, gas_used: null, transaction_fee: null }),
    ],
    erc20_transfers: [
      erc20(T2, '1', [B, X], {
        value: '1234500',
        token_decimals: '6',
        amount: '1.2345',
        token_symbol: 'USDC',
      }),
      erc20(T2, '2', [ZERO, C], { value: String(BIG), token_name: '=SUM(A1)' }),
      erc20(T6, '0', [ZERO, C], { value: String(BIG), token_name: '@home', token_decimals: '2147483647' }),
      erc20(T6, '1', [C, A], { value: '0' }),
    ],
    erc721_transfers: [
      {
        ...fact(T3, X, A),
        transfer_id: '0',
        log_index: '0',
        token_address: COIN,
        token_id: '77',
        metadata_updated_at: '2024-01-02T03:04:05.006Z',
      },
    ],
    erc1155_transfers: [
      {
        ...fact(T3, A, B),
        transfer_id: '3.0',
        log_index: '3',
        transfer_ordinal: '0',
        token_address: COIN,
        token_id: '5',
        value: '10',
      },
      {
        ...fact(T3, A, B),
        transfer_id: '3.1',
        log_index: '3',
        transfer_ordinal: '1',
        token_address: COIN,
        token_id: '5',
        value: '30',
        metadata_decimals: '1',
      },
    ],
    internal_transactions: [
      internal('82c4f96016d78fda-0', [X, A], { value: '7' }),
      internal('82c4f96016d78fda-1', [X, A], { value: '7' }),
      internal('503c15209b5f8e8a-0', [A, X], { value: '3', internal_type: 'DELEGATECALL' }),
      internal('ba2db19c873252a8-0', [A, X], { value: '4', reverted: 'true' }),
    ],
    wallet_transactions: [
      seen(T1, A, { is_sender: 'true' }),
      seen(T1, B, { is_receiver: 'true' }),
      seen(T2, B, { is_sender: 'true', erc20_transfers: '1' }),
      seen(T2, C, { erc20_transfers: '1' }),
      seen(T3, A, { erc721_transfers: '1', erc1155_transfers: '2', internal_transactions: '4' }),
      seen(T3, B, { erc1155_transfers: '2' }),
      seen(T4, C, { is_sender: 'true' }),
      seen(T5, A, { is_sender: 'true', is_receiver: 'true' }),
      seen(T6, A, { erc20_transfers: '1' }),
      seen(T6, C, { erc20_transfers: '2' }),
    ],
    atomic_transactions: [],
    ledger: ledgerRows(),
  }
  return lake
}

/** The same export, but the service also lists the top-level call of the first transaction as an internal transaction. */
export function lakeWithTopLevelCall(): Lake {
  const lake = goodLake()
  const call = { value: '5000000000000000000', gas_limit: '30000', gas_used: '21000' }
  lake.internal_transactions.unshift({
    ...internal('', [A, B], call),
    ...prefix(T1),
    internal_id: TOP_LEVEL_ID,
  })
  for (const row of lake.wallet_transactions.slice(0, 2)) row.internal_transactions = '1'
  return lake
}

export const TOP_LEVEL_ID = '59ebe6806a4471c8-0'

function ledgerRows(): Cells[] {
  const coin = { asset_address: COIN }
  const units = { ...coin, asset_type: 'erc1155', token_id: '5' }
  const usdc = { ...coin, asset_type: 'erc20', asset_decimals: '6', amount: '-1.2345' }
  const minted = { ...coin, asset_type: 'erc20', value: String(BIG) }
  const batch = { source: 'erc1155_transfers' }
  return [
    entry(T1, [A, '0', 'fee', 'out'], { value: '-525000000000000', amount: '-0.000525' }),
    entry(T1, [A, '1', 'transfer', 'out'], { value: '-5000000000000000000', amount: '-5' }, { other: B }),
    entry(T1, [B, '0', 'transfer', 'in'], { value: '5000000000000000000', amount: '5' }, { other: A }),
    entry(T2, [B, '0', 'fee', 'out'], { value: '-525000000000000', amount: '-0.000525' }),
    entry(
      T2,
      [B, '1', 'transfer', 'out'],
      { ...usdc, value: '-1234500' },
      { other: X, source: 'erc20_transfers', fact: '1' },
    ),
    entry(T2, [C, '0', 'mint', 'in'], minted, { other: ZERO, source: 'erc20_transfers', fact: '2' }),
    entry(T3, [A, '0', 'transfer', 'in'], wei('7'), {
      other: X,
      source: 'internal_transactions',
      fact: '82c4f96016d78fda-0',
    }),
    entry(T3, [A, '1', 'transfer', 'in'], wei('7'), {
      other: X,
      source: 'internal_transactions',
      fact: '82c4f96016d78fda-1',
    }),
    entry(
      T3,
      [A, '2', 'transfer', 'in'],
      { ...coin, asset_type: 'erc721', token_id: '77', value: '1', amount: '1', asset_decimals: '0' },
      { other: X, source: 'erc721_transfers', fact: '0' },
    ),
    entry(T3, [A, '3', 'transfer', 'out'], { ...units, value: '-10' }, { ...batch, other: B, fact: '3|0' }),
    entry(
      T3,
      [A, '4', 'transfer', 'out'],
      { ...units, value: '-30', asset_decimals: '1', amount: '-3' },
      { ...batch, other: B, fact: '3|1' },
    ),
    entry(T3, [B, '0', 'transfer', 'in'], { ...units, value: '10' }, { ...batch, other: A, fact: '3|0' }),
    entry(
      T3,
      [B, '1', 'transfer', 'in'],
      { ...units, value: '30', asset_decimals: '1', amount: '3' },
      { ...batch, other: A, fact: '3|1' },
    ),
    entry(T4, [C, '0', 'fee', 'out'], { value: '-525000000000000', amount: '-0.000525' }),
    entry(T5, [A, '0', 'fee', 'out'], { value: `-21${'0'.repeat(63)}`, amount: `-21${'0'.repeat(45)}` }),
    entry(T5, [A, '1', 'self', 'out'], wei('-2'), { other: A }),
    entry(T5, [A, '2', 'self', 'in'], wei('2'), { other: A }),
    entry(
      T6,
      [C, '0', 'mint', 'in'],
      { ...minted, asset_decimals: '2147483647' },
      { other: ZERO, source: 'erc20_transfers', fact: '0' },
    ),
  ]
}

function wei(value: string): Cells {
  return { value, amount: value.replace(/\d$/, (digit) => `0.00000000000000000${digit}`) }
}

/** Builds a ledger row; by default, native coin from `transactions`. */
function entry(
  hash: string,
  [wallet, index, type, direction]: readonly [string, string, string, string],
  cells: Cells,
  from: { other?: string; source?: string; fact?: string } = {},
): Cells {
  const { other = null, source = 'transactions', fact: part = '' } = from
  const isNative = cells.asset_type === undefined
  const own = other !== null && [A, B, C].includes(other)
  return row('ledger', {
    ...prefix(hash),
    wallet_address: wallet,
    wallet_label: wallet === B ? '-b' : null,
    entry_index: index,
    source,
    entry_type: type,
    direction,
    counterparty_address: other,
    counterparty_is_own: String(own),
    ...(isNative ? { asset_type: 'native', asset_symbol: 'AVAX', asset_decimals: '18' } : {}),
    ...cells,
    entry_id: entryId([CHAIN, hash, wallet, source, part, type, direction]),
  })
}

/** Computes a ledger row's entry_id as the contract defines it. */
export function entryId(parts: readonly string[]): string {
  return createHash('sha256').update(parts.join('|')).digest('hex').slice(0, 32)
}

function native(hash: string, from: string, to: string, cells: Cells): Cells {
  return row('transactions', {
    ...fact(hash, from, to),
    status: '1',
    success: 'true',
    value: '0',
    gas_limit: '30000',
    gas_used: '21000',
    gas_price: '25000000000',
    transaction_fee: '525000000000000',
    ...cells,
  })
}

function erc20(hash: string, log: string, [from, to]: readonly [string, string], cells: Cells): Cells {
  return row('erc20_transfers', {
    ...fact(hash, from, to),
    transfer_id: log,
    log_index: log,
    token_address: COIN,
    ...cells,
  })
}

function internal(id: string, [from, to]: readonly [string, string], cells: Cells): Cells {
  return row('internal_transactions', {
    ...fact(T3, from, to),
    internal_id: id,
    internal_type: 'CALL',
    reverted: 'false',
    ...cells,
  })
}

function seen(hash: string, wallet: string, cells: Cells): Cells {
  const none = { is_sender: 'false', is_receiver: 'false', erc20_transfers: '0', erc721_transfers: '0' }
  return row('wallet_transactions', {
    ...prefix(hash),
    ...none,
    erc1155_transfers: '0',
    internal_transactions: '0',
    wallet_address: wallet,
    wallet_label: wallet === B ? '-b' : null,
    ...cells,
  })
}

function fact(hash: string, from: string, to: string): Cells {
  return { ...prefix(hash), from_address: from, to_address: to }
}

function prefix(hash: string): Cells {
  const [block, index] = PLACES[hash] ?? [0, 0]
  return {
    chain_id: CHAIN,
    block_number: String(block),
    block_hash: `0xb${block}`,
    block_timestamp: `2023-11-14T22:${block < 300 ? 12 : block - 284}:40.123Z`,
    transaction_hash: hash,
    transaction_index: String(index),
  }
}

function row(table: TableName, cells: Cells): Cells {
  const empty = Object.fromEntries(tableByName(table).columns.map((column) => [column.name, null]))
  return { ...empty, ...cells }
}
