import type { TableName } from '../core/table/index.ts'
import type { Party } from './party.ts'
import type { Erc20, Erc721, Erc1155 } from './transfers.ts'
import type { View } from './view.ts'

/** One asset on its way from one party to another, or a fee (no receiver). */
export type Movement = {
  source: TableName
  /** The fact's own index within its transaction, as it stands in `entry_id`. */
  index: string
  isFee: boolean
  from: Party
  to: Party
  asset: Asset
  /** Digits, not negative. */
  value: string
}

type Asset = {
  type: 'native' | 'erc20' | 'erc721' | 'erc1155'
  address: string | null
  symbol: string | null
  decimals: number | null
  tokenId: string | null
}

const NOBODY: Party = { address: null, name: null }
/** Internal entries that run code and move nothing. */
const MOVES_NOTHING = new Set(['DELEGATECALL', 'STATICCALL', 'CALLCODE'])

/**
 * Everything that a transaction moved, in the ledger's order: fee, native value, internal, ERC-20, ERC-721, ERC-1155.
 * A failed transaction moves only its fee; what is zero moves nothing.
 */
export function movementsOf(view: View, ids: readonly string[], nativeSymbol: string | null): Movement[] {
  const coin: Asset = { type: 'native', address: null, symbol: nativeSymbol, decimals: 18, tokenId: null }
  const all: Movement[] = []
  const add = (movement: Movement) => {
    if (movement.value !== '0') all.push(movement)
  }
  const { from, to, fee, value, success } = view.native
  const own = (isFee: boolean, to: Party, value: string): Movement => {
    return { source: 'transactions', index: '', isFee, from, to, asset: coin, value }
  }
  add(own(true, NOBODY, fee ?? '0'))
  if (success === false) return all
  add(own(false, to, value))
  addInternal(view, { ids, coin, add })
  for (const entry of view.erc20) add(erc20Movement(entry))
  for (const entry of view.erc721) add(erc721Movement(entry))
  for (const entry of view.erc1155) add(erc1155Movement(entry))
  return all
}

type Adding = { ids: readonly string[]; coin: Asset; add: (movement: Movement) => void }

function addInternal({ internal }: View, { ids, coin, add }: Adding): void {
  for (const [at, { type, from, to, value, reverted }] of internal.entries()) {
    if (reverted || MOVES_NOTHING.has((type ?? '').toUpperCase())) continue
    const index = ids[at] ?? ''
    add({ source: 'internal_transactions', index, isFee: false, from, to, asset: coin, value })
  }
}

function erc20Movement(entry: Erc20): Movement {
  const { tokenAddress: address, tokenSymbol: symbol, tokenDecimals: decimals } = entry
  const asset: Asset = { type: 'erc20', address, symbol, decimals, tokenId: null }
  return moved('erc20_transfers', entry, { index: String(entry.logIndex), asset, value: entry.value })
}

function erc721Movement(entry: Erc721): Movement {
  const { tokenAddress: address, tokenSymbol: symbol, tokenId } = entry
  const asset: Asset = { type: 'erc721', address, symbol, decimals: 0, tokenId }
  return moved('erc721_transfers', entry, { index: String(entry.logIndex), asset, value: '1' })
}

function erc1155Movement(entry: Erc1155): Movement {
  const { tokenAddress: address, metadataDecimals: decimals, tokenId } = entry
  const asset: Asset = { type: 'erc1155', address, symbol: null, decimals, tokenId }
  const index = `${entry.logIndex}|${entry.ordinal}`
  return moved('erc1155_transfers', entry, { index, asset, value: entry.value })
}

type Moved = Pick<Movement, 'index' | 'asset' | 'value'>

function moved(
  source: TableName,
  { from, to }: { from: Party; to: Party },
  { index, asset, value }: Moved,
): Movement {
  return { source, index, isFee: false, from, to, asset, value }
}
