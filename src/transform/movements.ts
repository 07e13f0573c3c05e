import { type AssetType, COIN_DECIMALS } from '../core/model/asset.ts'
import { coinContractsOf, type WrappedCoin } from '../core/model/chains.ts'
import { ENTRY_TYPES, type EntryType } from '../core/model/entry-types.ts'
import { shiftDecimal } from '../core/platform/decimal.ts'
import type { Cells, TableName } from '../core/table/index.ts'
import type { View } from '../sources/view.ts'

/**
 * A transfer of one asset from one party to another, a fee (no receiver), or the token side of wrapping the native coin:
 * the contract mints it for the receiver or burns it of the sender, and is itself not credited or debited. An import has
 * no sender and an export no receiver on this chain.
 */
export type Movement = {
  source: TableName
  /** Index of the fact within its transaction, as it enters `entry_id`. */
  index: string
  /** The parties decide whether a transfer is entered as one, or as `mint`, `burn` or `self`. */
  type: Exclude<EntryType, 'mint' | 'burn' | 'self' | 'opening'>
  parties: Parties
  asset: Asset
  /** Decimal digits, not negative, in base units (wei). */
  value: string
  /** `value` in whole units of the asset; null if its decimals are unknown. */
  amount: string | null
}

/** Sender and receiver, named like the columns of the fact tables. */
type Parties = Pick<Cells<'transactions'>, 'from_address' | 'from_name' | 'to_address' | 'to_name'>

export type Asset = {
  type: AssetType
  address: string | null
  symbol: string | null
  decimals: number | null
  tokenId: string | null
}

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
    if (!canWrap || wrappedCoin === undefined) return add(movement)
    if (movement.value === '0') return
    for (const each of withWraps(movement, { native, erc20, wrappedCoin })) all.push(each)
  }
  if (row.value !== null)
    addCoins(coinMovement('transactions', '', row, { asset: coin, value: row.value }), true)
  const topLevel = topLevelCallOf(internal, row)
  for (const entry of internal) {
    const kind = (entry.internal_type ?? 'CALL').toUpperCase()
    if (entry === topLevel || entry.reverted || NON_TRANSFER_CALLS.has(kind)) continue
    // A creation or a self-destruct, which the service lists as UNKNOWN, calls no contract.
    const movement = coinMovement('internal_transactions', entry.internal_id, entry, {
      asset: coin,
      value: entry.value,
    })
    addCoins(movement, kind === 'CALL')
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
  index: string,
  parties: Parties,
  { asset, value }: Pick<Movement, 'asset' | 'value'>,
): Movement {
  const amount = shiftDecimal(value, asset.decimals)
  return { source, index, type: 'transfer', parties, asset, value, amount }
}

function erc20Movement(entry: Cells<'erc20_transfers'>): Movement {
  const { token_address: address, token_symbol: symbol, token_decimals: decimals, value, amount } = entry
  const asset: Asset = { type: 'erc20', address, symbol, decimals, tokenId: null }
  const index = entry.transfer_id
  return { source: 'erc20_transfers', index, type: 'transfer', parties: entry, asset, value, amount }
}

function erc721Movement(entry: Cells<'erc721_transfers'>): Movement {
  const { token_address: address, token_symbol: symbol, token_id: tokenId, transfer_id: index } = entry
  const asset: Asset = { type: 'erc721', address, symbol, decimals: 0, tokenId }
  return {
    source: 'erc721_transfers',
    index,
    type: 'transfer',
    parties: entry,
    asset,
    value: '1',
    amount: '1',
  }
}

function erc1155Movement(entry: Cells<'erc1155_transfers'>): Movement {
  const { token_address: address, metadata_decimals: decimals, token_id: tokenId, value } = entry
  const { log_index, transfer_ordinal, transfer_id } = entry
  const asset: Asset = { type: 'erc1155', address, symbol: null, decimals, tokenId }
  const index = log_index === null ? transfer_id : `${log_index}|${transfer_ordinal}`
  const amount = shiftDecimal(value, decimals)
  return { source: 'erc1155_transfers', index, type: 'transfer', parties: entry, asset, value, amount }
}

/** The parts of a movement's transaction that determine whether it wraps or unwraps coins. */
type WrapContext = Pick<View, 'native' | 'erc20'> & { wrappedCoin: WrappedCoin }

/** Selector of `withdraw(uint256)`. */
const WITHDRAW_ID = '0x2e1a7d4d'
const WITHDRAW_NAMES = new Set(['withdraw(uint256)', 'withdraw'])

/**
 * Adds the other side of wrapping and unwrapping to a movement of the native coin (CONTRACT section 2.5): coins that
 * are sent to the contract of the wrapped coin credit the sender with as many tokens, and coins that the contract pays
 * out in a call of `withdraw` debit the receiver. Sent assets come before received ones.
 */
function withWraps(coin: Movement, context: WrapContext): Movement[] {
  const { from_address: from, to_address: to } = coin.parties
  const contracts = context.wrappedCoin.contracts
  if (from === null || to === null || from === to) return [coin]
  if (contracts.includes(from)) {
    const token = tokenMovement(coin, { context, contract: from, type: 'unwrap' })
    const isUnwrap = coin.source !== 'transactions' && isWithdraw(context.native.row, { contract: from, to })
    return isUnwrap && !hasEvent(token, context) ? [token, coin] : [coin]
  }
  if (!contracts.includes(to)) return [coin]
  const token = tokenMovement(coin, { context, contract: to, type: 'wrap' })
  return hasEvent(token, context) ? [coin] : [coin, token]
}

/**
 * Whether coins that the contract sent to an address can come from that address's call of `withdraw`. The listing names
 * the method of the transaction only. The contract sends coins only to a caller of `withdraw`, so in a transaction
 * to any other address the receiver has called it.
 */
function isWithdraw(
  { from_address, to_address, method_id, method_name }: View['native']['row'],
  { contract, to }: { contract: string; to: string },
): boolean {
  if (to_address !== contract) return true
  if (from_address !== to) return false
  return method_id === null ? WITHDRAW_NAMES.has(method_name ?? '') : method_id === WITHDRAW_ID
}

/** The movement of the token: the parties of the coin's movement change places. */
function tokenMovement(
  { parties, ...coin }: Movement,
  { context, contract, type }: { context: WrapContext; contract: string; type: Movement['type'] },
): Movement {
  return {
    ...coin,
    parties: {
      from_address: parties.to_address,
      from_name: parties.to_name,
      to_address: parties.from_address,
      to_name: parties.from_name,
    },
    asset: {
      ...coin.asset,
      type: 'erc20',
      address: contract,
      symbol: context.wrappedCoin.symbol,
    },
    type,
  }
}

/** Whether a Transfer event of the contract credits or debits the wallet by the same value. */
function hasEvent({ type, parties, asset, value }: Movement, { erc20 }: WrapContext): boolean {
  const side = ENTRY_TYPES[type].rowOf === 'receiver' ? 'to_address' : 'from_address'
  return erc20.some(
    (event) =>
      event.token_address === asset.address &&
      event.value === value &&
      event[side] === parties[side] &&
      event.from_address !== event.to_address,
  )
}
