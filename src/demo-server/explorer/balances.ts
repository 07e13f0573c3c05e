import { type ChainState, recordedAt } from '../balances/chain-state.ts'
import type { Chain } from '../chain.ts'
import { type JsonObject, objectOf } from '../json.ts'
import { resultAnswer, rpcAnswer } from './answers.ts'
import { type ExplorerAction, headOf } from './dialect.ts'
import { blockAt, readAddresses, readQueryAddress } from './explorer-query.ts'
import { ExplorerRejection } from './rejection.ts'

/** The balance of the native coin at the head. */
export const showBalance: ExplorerAction = async ({ query, chain }) => {
  const address = readQueryAddress(query.get('address'))
  return resultAnswer(await balanceAt(chain, { address, block: await headOf(chain) }))
}

/** Creates the action that shows the balances of up to 20 addresses. `more` are fields that each entry has in addition. */
export function showBalances(more: Readonly<Record<string, unknown>> = {}): ExplorerAction {
  return async ({ query, chain }) => {
    const block = await headOf(chain)
    const balances = readAddresses(query.get('address')).map(async (address) => ({
      account: address,
      balance: await balanceAt(chain, { address, block }),
      ...more,
    }))
    return resultAnswer(await Promise.all(balances))
  }
}

/** The balance of a token at the head: its amount, or the number of NFTs of a collection. */
export const showTokenBalance: ExplorerAction = async ({ query, chain }) => {
  const address = readQueryAddress(query.get('address'))
  const contract = readQueryAddress(query.get('contractaddress'))
  const [state, block] = [await stateOf(chain, address), await headOf(chain)]
  const amount = recordedAt(state.erc20[contract]?.balances[address], block)
  const owners = Object.values(state.erc721[contract]?.owners ?? {})
  const owned = owners.filter((recorded) => recordedAt(recorded, block) === address).length
  return resultAnswer(amount ?? String(owned))
}

/** The balance of the native coin after a block, as a node returns it. */
export const showBalanceAtBlock: ExplorerAction = async ({ query, chain }) => {
  const address = readQueryAddress(query.get('address'))
  const head = await headOf(chain)
  const block = blockAt(query, { name: 'block', maxBlock: head }) ?? head
  return rpcAnswer(BigInt(await balanceAt(chain, { address, block })), 0)
}

/** Creates the action that shows the last block with a transaction at or before a time. `show` makes its result. */
export function showBlockAtTime(show: (block: string) => unknown): ExplorerAction {
  return async ({ query, chain }) => {
    const [head, { items, blockNumbers }] = [await headOf(chain), await chain.items()]
    const timestamp = Number(query.get('timestamp'))
    const isBefore = (item: JsonObject) =>
      Number(objectOf(item.nativeTransaction).blockTimestamp) <= timestamp
    const last = items.findLastIndex((item, at) => (blockNumbers[at] ?? 0) <= head && isBefore(item))
    if (last === -1) throw new ExplorerRejection('no-block')
    return resultAnswer(show(String(blockNumbers[last])))
  }
}

/** The number of the last block. */
export const showHead: ExplorerAction = async ({ chain }) => rpcAnswer(await headOf(chain), 1)

async function balanceAt(chain: Chain, { address, block }: { address: string; block: number }) {
  const { native } = await stateOf(chain, address)
  return recordedAt(native[address], block) ?? '0'
}

/** The recorded state of a chain. Throws if it does not cover the address: "0" would be wrong. */
async function stateOf(chain: Chain, address: string): Promise<ChainState> {
  const [state, { positionsOf }] = await Promise.all([chain.state(), chain.items()])
  const isRecorded = state?.native[address] !== undefined || positionsOf(address).length === 0
  if (state === undefined || !isRecorded) throw new ExplorerRejection('not-recorded')
  return state
}
