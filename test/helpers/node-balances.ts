import type { Balance } from '../../src/ledger/balances/balances.ts'
import { demoWallets, nodeData } from './node-data.ts'

const keyOf = ({ wallet_address, asset_type, asset_address, token_id }: Balance) =>
  [wallet_address, asset_type, asset_address, token_id].join('|')

/** The values of balances, by key. */
export const valuesOf = (all: readonly Balance[]) =>
  new Map(all.map((balance) => [keyOf(balance), balance.value]))

/** Tokens whose balances on the node differ from the sums of their events. */
export const unreconcilable = Object.entries(nodeData.erc20)
  .filter(([, { reconcilable }]) => !reconcilable)
  .map(([token]) => token.toLowerCase())

/** The node's balances at the last block, by key, without tokens that cannot be reconciled with their events. */
export function nodeBalances(): Map<string, bigint> {
  const expected = new Map<string, bigint>()
  const put = (wallet: string, asset: string, value: string) => {
    if (BigInt(value) !== 0n) expected.set(`${wallet}|${asset}`.toLowerCase(), BigInt(value))
  }
  for (const [wallet, all] of Object.entries(nodeData.nativeByBlock))
    put(wallet, 'native||', all.at(-1)?.[1] ?? '0')
  for (const [token, { reconcilable, checkpoints }] of Object.entries(nodeData.erc20)) {
    if (!reconcilable) continue
    for (const [wallet, value] of Object.entries(checkpoints[nodeData.lastBlock] ?? {}))
      put(wallet, `erc20|${token}|`, value)
  }
  for (const [token, wallets] of Object.entries(nodeData.erc1155))
    for (const [wallet, ids] of Object.entries(wallets))
      for (const [id, value] of Object.entries(ids)) put(wallet, `erc1155|${token}|${id}`, value)
  for (const [token, ids] of Object.entries(nodeData.erc721Owners))
    for (const [id, owner] of Object.entries(ids))
      if (owner !== null && demoWallets.includes(owner.toLowerCase()))
        put(owner, `erc721|${token}|${id}`, '1')
  return expected
}
