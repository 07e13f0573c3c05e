import { COIN_DECIMALS } from '../core/model/asset.ts'
import { coinContractsOf, type WrappedCoin } from '../core/model/chains.ts'
import { shiftDecimal } from '../core/platform/decimal.ts'
import type { Cells, TableName } from '../core/table/index.ts'
import type { View } from '../sources/view.ts'
import type { Asset, Movement, Parties } from './movement.ts'
import { withWraps } from './wraps.ts'

/** Kinds of internal calls that run code without moving value. */
const NON_TRANSFER_CALLS = new Set(['DELEGATECALL', 'STATICCALL', 'CALLCODE'])

/** Kinds of internal calls that can be the transaction's own top-level call. */
const TOP_LEVEL_CALLS = new Set(['CALL', 'CREATE', 'CREATE2', 'CREATE3', 'UNKNOWN'])

/** Settings and properties of the chain that movements depend on. */
export type CoinContext = {
  nativeSymbol: string | null
  /** undefined if its movements are not added. */
  wrappedCoin: WrappedCoin | undefined
}

/**
 * Returns all movements of a transaction in ledger order: fee, native value, internal, ERC-20, ERC-721,
 * ERC-1155. A failed transaction moves only its fee. Movements of zero are omitted. The top-level internal
 * call repeats the transaction's own value, and ERC-20 events of a contract that presents the native coin as
 * a token repeat movements of the coin, so both are omitted. Wrapping the coin also moves the wrapped token.
 */
export function movementsOf(
  { native, erc20, erc721, erc1155 }: View,
  internal: readonly Cells<'internal_transactions'>[],
  { nativeSymbol, wrappedCoin }: CoinContext,
): Movement[] {
  const { row } = native
  const coin: Asset = {
    type: 'native',
    address: null,
    symbol: nativeSymbol,
    decimals: COIN_DECIMALS,
    tokenId: null,
  }
  const all: Movement[] = []
  const add = (movement: Movement) => {
    if (movement.value !== '0') all.push(movement)
  }
  add(feeMovement(row, coin))
  if (row.success === false) return all
  const addCoins = (movement: Movement, canWrap: boolean) => {
    const movements = canWrap ? withWraps(movement, { native, erc20, wrappedCoin }) : [movement]
    for (const one of movements) add(one)
  }
  if (row.value !== null)
    addCoins(coinMovement('transactions', { ...row, value: row.value }, { index: '', coin }), true)
  const topLevel = topLevelCallOf(internal, row)
  for (const entry of internal) {
    const kind = (entry.internal_type ?? 'CALL').toUpperCase()
    if (entry === topLevel || entry.reverted || NON_TRANSFER_CALLS.has(kind)) continue
    // A creation or a self-destruct, which the service lists as UNKNOWN, calls no contract.
    addCoins(
      coinMovement('internal_transactions', entry, { index: entry.internal_id, coin }),
      kind === 'CALL',
    )
  }
  const coinContracts = coinContractsOf(native.prefix.chain_id)
  for (const entry of erc20) if (!coinContracts.includes(entry.token_address)) add(erc20Movement(entry))
  for (const entry of erc721) add(erc721Movement(entry))
  for (const entry of erc1155) add(erc1155Movement(entry))
  return all
}

/**
 * Returns the internal entry that repeats the top-level call of a transaction that did not fail (CONTRACT section 2.5).
 * Explorers list it with other gas figures, or none. It is then recognized as the only call of the sender: an account
 * without code calls nothing else in its transaction.
 */
function topLevelCallOf(
  internal: readonly Cells<'internal_transactions'>[],
  row: Cells<'transactions'>,
): Cells<'internal_transactions'> | undefined {
  const same = internal.find((entry) => isSameCall(entry, row) && isSameGas(entry, row))
  if (same !== undefined || row.transaction_type === DELEGATING) return same
  const [first, second] = internal.filter(
    (entry) => !entry.reverted && entry.from_address === row.from_address,
  )
  return first !== undefined && second === undefined && isSameCall(first, row) ? first : undefined
}

/** A transaction that gives accounts code (EIP-7702). */
const DELEGATING = 4

const isSameGas = (
  entry: Cells<'internal_transactions'>,
  { gas_used, gas_limit }: Cells<'transactions'>,
): boolean => entry.gas_used === gas_used && entry.gas_limit === gas_limit

/** A reverted entry is an earlier, failed attempt of the same call. */
function isSameCall(entry: Cells<'internal_transactions'>, row: Cells<'transactions'>): boolean {
  if (entry.reverted) return false
  const type = (entry.internal_type ?? 'UNKNOWN').toUpperCase()
  if (!TOP_LEVEL_CALLS.has(type)) return false
  if (entry.from_address !== row.from_address || entry.value !== row.value) return false
  if (entry.to_address === row.to_address) return true
  const isCreation =
    type.startsWith('CREATE') || row.to_address === null || row.call_type === 'CONTRACT_CREATION'
  return isCreation && (entry.to_address === null || row.to_address === null)
}

function feeMovement(
  { from_address, from_name, transaction_fee }: Cells<'transactions'>,
  coin: Asset,
): Movement {
  const parties = { from_address, from_name, to_address: null, to_name: null }
  const value = transaction_fee ?? '0'
  const amount = shiftDecimal(value, coin.decimals)
  return { source: 'transactions', index: '', type: 'fee', parties, asset: coin, value, amount }
}

function coinMovement(
  source: TableName,
  entry: Parties & { value: string },
  { index, coin }: { index: string; coin: Asset },
): Movement {
  const { value } = entry
  return assetMovement(source, entry, {
    index,
    asset: coin,
    value,
    amount: shiftDecimal(value, coin.decimals),
  })
}

function erc20Movement(entry: Cells<'erc20_transfers'>): Movement {
  const { token_address: address, token_symbol: symbol, token_decimals: decimals, value, amount } = entry
  const asset: Asset = { type: 'erc20', address, symbol, decimals, tokenId: null }
  return assetMovement('erc20_transfers', entry, { index: entry.transfer_id, asset, value, amount })
}

function erc721Movement(entry: Cells<'erc721_transfers'>): Movement {
  const { token_address: address, token_symbol: symbol, token_id: tokenId } = entry
  const asset: Asset = { type: 'erc721', address, symbol, decimals: 0, tokenId }
  return assetMovement('erc721_transfers', entry, {
    index: entry.transfer_id,
    asset,
    value: '1',
    amount: '1',
  })
}

function erc1155Movement(entry: Cells<'erc1155_transfers'>): Movement {
  const { token_address: address, metadata_decimals: decimals, token_id: tokenId, value } = entry
  const { log_index, transfer_ordinal, transfer_id } = entry
  const asset: Asset = { type: 'erc1155', address, symbol: null, decimals, tokenId }
  return assetMovement('erc1155_transfers', entry, {
    index: log_index === null ? transfer_id : `${log_index}|${transfer_ordinal}`,
    asset,
    value,
    amount: shiftDecimal(value, decimals),
  })
}

type MovementDetails = Pick<Movement, 'index' | 'asset' | 'value' | 'amount'>

function assetMovement(
  source: TableName,
  parties: Parties,
  { index, asset, value, amount }: MovementDetails,
): Movement {
  return { source, index, type: 'transfer', parties, asset, value, amount }
}
