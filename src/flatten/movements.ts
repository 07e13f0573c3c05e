import type { TableName } from '../table/index.ts'
import type { Party } from './party.ts'
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
  const { native } = view
  const own = { source: 'transactions', index: '', asset: coin } as const
  const fee = { ...own, isFee: true, from: native.from, to: NOBODY, value: native.fee ?? '0' }
  const moved: Movement[] = [fee]
  if (native.success !== false) {
    moved.push({ ...own, isFee: false, from: native.from, to: native.to, value: native.value })
    moved.push(...internalMovements(view, ids, coin), ...tokenMovements(view))
  }
  return moved.filter(({ value }) => value !== '0')
}

function internalMovements({ internal }: View, ids: readonly string[], asset: Asset): Movement[] {
  return internal.flatMap(({ type, from, to, value, reverted }, at) => {
    if (reverted || MOVES_NOTHING.has((type ?? '').toUpperCase())) return []
    return [
      {
        source: 'internal_transactions',
        index: ids[at] ?? '',
        isFee: false,
        from,
        to,
        asset,
        value,
      } as const,
    ]
  })
}

function tokenMovements({ erc20, erc721, erc1155 }: View): Movement[] {
  return [
    ...erc20.map((entry) =>
      moved('erc20_transfers', entry, {
        index: String(entry.logIndex),
        value: entry.value,
        asset: { type: 'erc20', symbol: entry.tokenSymbol, decimals: entry.tokenDecimals, tokenId: null },
      }),
    ),
    ...erc721.map((entry) =>
      moved('erc721_transfers', entry, {
        index: String(entry.logIndex),
        value: '1',
        asset: { type: 'erc721', symbol: entry.tokenSymbol, decimals: 0, tokenId: entry.tokenId },
      }),
    ),
    ...erc1155.map((entry) =>
      moved('erc1155_transfers', entry, {
        index: `${entry.logIndex}|${entry.ordinal}`,
        value: entry.value,
        asset: { type: 'erc1155', symbol: null, decimals: entry.metadataDecimals, tokenId: entry.tokenId },
      }),
    ),
  ]
}

type Token = { index: string; value: string; asset: Omit<Asset, 'address'> }

function moved(
  source: TableName,
  entry: { from: Party; to: Party; tokenAddress: string },
  { index, value, asset }: Token,
): Movement {
  return {
    source,
    index,
    isFee: false,
    from: entry.from,
    to: entry.to,
    asset: { ...asset, address: entry.tokenAddress },
    value,
  }
}
