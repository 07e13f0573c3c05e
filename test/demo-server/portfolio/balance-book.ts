import type { ChainState } from '../../../src/demo-server/chain-state.ts'
import type { Party, Token, Transfer } from './parties.ts'

type Recordings = Record<string, [block: number, value: string][]>

/** Records the balances of some wallets after every block in which they change. */
export function openBalanceBook(wallets: readonly Party[]) {
  const kept = new Set(wallets.map(({ address }) => address))
  const held = new Map<string, bigint>()
  const native: Recordings = Object.fromEntries([...kept].map((address) => [address, []]))
  const erc20: Record<string, Omit<Token, 'address'> & { balances: Recordings }> = {}
  const erc721: Record<string, { name: string; symbol: string; owners: Recordings }> = {}
  const erc1155: Record<string, Record<string, Recordings>> = {}

  const keyOf = ({ address }: Party, token?: Token, tokenId = '') =>
    `${address} ${token?.address ?? ''} ${tokenId}`

  /** The balances of an asset that are recorded by wallet; an ERC-721 token has an owner instead. */
  function recordingsOf({ token, tokenId }: Transfer): Recordings {
    if (token === undefined) return native
    const { address, ...named } = token
    if (tokenId === undefined) {
      erc20[address] ??= { ...named, balances: {} }
      return erc20[address].balances
    }
    erc1155[address] ??= {}
    const ids = erc1155[address]
    ids[tokenId] ??= {}
    return ids[tokenId]
  }

  function change(
    wallet: Party,
    by: bigint,
    { transfer, block }: { transfer: Transfer; block: number },
  ): void {
    if (!kept.has(wallet.address)) return
    const { token, tokenId, isMulti = false } = transfer
    const key = keyOf(wallet, token, tokenId)
    const after = (held.get(key) ?? 0n) + by
    if (after < 0n)
      throw new Error(`${wallet.address} lacks ${-after} ${token?.symbol ?? 'wei'} in block ${block}`)
    held.set(key, after)
    if (tokenId === undefined || isMulti)
      record(recordingsOf(transfer), wallet.address, [block, String(after)])
  }

  return {
    /** Moves an asset in a block. */
    move(transfer: Transfer, block: number): void {
      const { from, to, value, token, tokenId, isMulti = false } = transfer
      change(from, -value, { transfer, block })
      change(to, value, { transfer, block })
      if (token === undefined || tokenId === undefined || isMulti) return
      erc721[token.address] ??= { name: token.name, symbol: token.symbol, owners: {} }
      record(erc721[token.address]?.owners ?? {}, tokenId, [block, to.address])
    },
    /** What a wallet has of the coin, or of a token. */
    balance: (wallet: Party, token?: Token): bigint => held.get(keyOf(wallet, token)) ?? 0n,
    state: { native, erc20, erc721, erc1155 } satisfies ChainState,
  }
}

/** Adds a value to the recordings of a key. The last value of a block counts. */
function record(recordings: Recordings, key: string, entry: [block: number, value: string]): void {
  recordings[key] ??= []
  const list = recordings[key]
  if (list.at(-1)?.[0] === entry[0]) list.pop()
  list.push(entry)
}
