import { type ChainState, recordedAt } from '../chain-state.ts'
import { jsonResponse } from '../http-error.ts'
import { type JsonObject, objectOf } from '../json.ts'
import { type ExplorerAction, ExplorerRejection, type ExplorerRequest } from './dialect.ts'
import { blockAt, readQueryAddress } from './explorer-query.ts'

/** The balance of the native coin at the head. */
export const showBalance: ExplorerAction = async (request) => {
  const address = readQueryAddress(request.query.get('address'))
  return resultAnswer(await balanceAt(request, address, request.head))
}

/** Creates the action that shows the balances of up to 20 addresses. `more` are fields that each entry has in addition. */
export function showBalances(more: Readonly<Record<string, unknown>> = {}): ExplorerAction {
  return async (request) => {
    const addresses = (request.query.get('address') ?? '').split(',').slice(0, 20).map(readQueryAddress)
    const balances = addresses.map(async (account) => {
      return { account, balance: await balanceAt(request, account, request.head), ...more }
    })
    return resultAnswer(await Promise.all(balances))
  }
}

/** The balance of a token at the head: its amount, or the number of NFTs of a collection. */
export const showTokenBalance: ExplorerAction = async (request) => {
  const { query, head } = request
  const address = readQueryAddress(query.get('address'))
  const contract = readQueryAddress(query.get('contractaddress'))
  const state = await stateOf(request, address)
  const amount = recordedAt(state.erc20[contract]?.balances[address], head)
  const owners = Object.values(state.erc721[contract]?.owners ?? {})
  const owned = owners.filter((recorded) => recordedAt(recorded, head) === address).length
  return resultAnswer(amount ?? String(owned))
}

/** The balance of the native coin after a block, as a node returns it. */
export const showBalanceAtBlock: ExplorerAction = async (request) => {
  const { query, head } = request
  const address = readQueryAddress(query.get('address'))
  return rpcAnswer(await balanceAt(request, address, blockAt(query, 'block', head) ?? head), 0)
}

/** Creates the action that shows the last block with a transaction at or before a time. `show` makes its result. */
export function showBlockAtTime(show: (block: string) => unknown): ExplorerAction {
  return async ({ query, chain, head }) => {
    const { items, blockNumbers } = await chain.items()
    const timestamp = Number(query.get('timestamp'))
    const isBefore = (item: JsonObject) =>
      Number(objectOf(item.nativeTransaction).blockTimestamp) <= timestamp
    const last = items.findLastIndex((item, at) => (blockNumbers[at] ?? 0) <= head && isBefore(item))
    if (last === -1) throw new ExplorerRejection('no-block')
    return resultAnswer(show(String(blockNumbers[last])))
  }
}

/** The number of the last block. */
export const showHead: ExplorerAction = async ({ head }) => rpcAnswer(head, 1)

function resultAnswer(result: unknown) {
  return jsonResponse(200, { status: '1', message: 'OK', result })
}

/** The answer of a node's method, which has no status. */
function rpcAnswer(result: number | string, id: number) {
  return jsonResponse(200, { jsonrpc: '2.0', id, result: `0x${BigInt(result).toString(16)}` })
}

async function balanceAt(request: ExplorerRequest, address: string, block: number): Promise<string> {
  const { native } = await stateOf(request, address)
  return recordedAt(native[address], block) ?? '0'
}

/** The recorded state of a chain. Throws if it does not cover the address: "0" would be wrong. */
async function stateOf({ chain }: ExplorerRequest, address: string): Promise<ChainState> {
  const [state, { positionsOf }] = await Promise.all([chain.state(), chain.items()])
  const isRecorded = state?.native[address] !== undefined || positionsOf(address).length === 0
  if (state === undefined || !isRecorded) throw new ExplorerRejection('not-recorded')
  return state
}
