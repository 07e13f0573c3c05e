import type { Chain } from '../chain.ts'
import { describeChain } from '../chain-info.ts'
import type { ServiceResponse } from '../data-service.ts'
import { HttpError, jsonResponse } from '../http-error.ts'
import type { JsonObject } from '../json.ts'
import { atomicBalance } from '../list-atomic.ts'
import type { ListingContext } from '../list-wallet.ts'
import { pageLimit } from '../page-limit.ts'
import { readAddress } from '../path-parameters.ts'
import { readBalanceQuery } from '../query.ts'
import type { Call } from '../route.ts'
import { type ChainState, recordedAt } from './chain-state.ts'

type BalanceContext = Pick<ListingContext, 'chain' | 'tokens' | 'quirks'>

type BalanceOperation = (call: Call, context: BalanceContext) => Promise<ServiceResponse>

/** Returns the balance of the native coin after a block. */
export const showNativeBalance: BalanceOperation = async ({ path, query }, { chain, quirks }) => {
  const { state, address, block } = await openBalances(path.address, { chain, query })
  const { networkToken } = describeChain(chain.id)
  const recorded = BigInt(recordedAt(state.native[address], block) ?? '0')
  const balance = String(recorded + (await atomicBalance(chain, { address, block, quirks })))
  return jsonResponse(200, { nativeTokenBalance: { ...networkToken, chainId: chain.id, balance } })
}

/** Lists the ERC-20 balances after a block that are not zero, by contract. */
export const listErc20Balances: BalanceOperation = async (call, context) => {
  const { state, address, block } = await openBalances(call.path.address, { ...context, query: call.query })
  const contracts = readBalanceQuery(call.query).contractAddresses
  const wanted = contracts === null ? undefined : new Set(contracts.map(readAddress))
  const balances = Object.entries(state.erc20).flatMap(([contract, { balances, ...token }]) => {
    const balance = recordedAt(balances[address], block) ?? '0'
    if (balance === '0' || wanted?.has(contract) === false) return []
    return [{ address: contract, ...token, ercType: 'ERC-20', chainId: context.chain.id, balance }]
  })
  return pageOf('erc20TokenBalances', sortByContract(balances), { call, context, block })
}

/** Lists the ERC-1155 balances after a block that are not zero, by contract and token id. */
export const listErc1155Balances: BalanceOperation = async (call, context) => {
  const { state, address, block } = await openBalances(call.path.address, { ...context, query: call.query })
  const balances = Object.entries(state.erc1155).flatMap(([contract, tokens]) =>
    Object.entries(tokens).flatMap(([tokenId, wallets]) => {
      const balance = recordedAt(wallets[address], block) ?? '0'
      const token = { address: contract, ercType: 'ERC-1155', chainId: context.chain.id }
      return balance === '0' ? [] : [{ ...token, tokenId, balance }]
    }),
  )
  return pageOf('erc1155TokenBalances', sortByContract(balances), { call, context, block })
}

/** Lists the ERC-721 tokens that a wallet owns now. */
export const listErc721Balances: BalanceOperation = async (call, context) => {
  const opened = await openBalances(call.path.address, { ...context, query: new URLSearchParams() })
  const { state, address, block } = opened
  const owned = Object.entries(state.erc721).flatMap(([contract, { owners, ...token }]) =>
    Object.entries(owners).flatMap(([tokenId, recorded]) =>
      recordedAt(recorded, block) === address
        ? [{ address: contract, ...token, ercType: 'ERC-721', tokenId, chainId: context.chain.id }]
        : [],
    ),
  )
  return pageOf('erc721TokenBalances', sortByContract(owned), { call, context, block })
}

type Opened = { readonly state: ChainState; readonly address: string; readonly block: number }

/**
 * Reads the address and the block, by default the head. Throws `HttpError`: 404 if there is no recorded state of the
 * chain or the address, 400 for a block after the head.
 */
async function openBalances(
  text: string,
  { chain, query }: { chain: Chain; query: URLSearchParams },
): Promise<Opened> {
  const address = readAddress(text)
  const state = await chain.state()
  if (state === undefined) throw new HttpError(404, `chain ${chain.id} has no recorded balances here.`)
  const { positionsOf } = await chain.items()
  if (state.native[address] === undefined && positionsOf(address).length > 0)
    throw new HttpError(404, `the balances of ${address} are not recorded here.`)
  const head = Math.min(chain.head(), await chain.last())
  const block = readBalanceQuery(query).blockNumber ?? head
  if (block <= head) return { state, address, block }
  throw new HttpError(400, `blockNumber must not be after the head ${head}, but is ${block}.`)
}

type PageRequest = { readonly call: Call; readonly context: BalanceContext; readonly block: number }

function pageOf(
  name: string,
  all: readonly JsonObject[],
  { call, context: { chain, tokens, quirks }, block }: PageRequest,
): ServiceResponse {
  const { pageToken, pageSize, contractAddresses } = readBalanceQuery(call.query)
  const address = readAddress(call.path.address)
  const key = [name, chain.id, address, block, contractAddresses?.join(',') ?? null, pageSize]
  const start = pageToken === null ? 0 : tokens.decode(key, pageToken)
  const end = start + pageLimit({ query: call.query, pageSize }, quirks)
  const next = end < all.length ? { nextPageToken: tokens.encode(key, end) } : {}
  return jsonResponse(200, { ...next, [name]: all.slice(start, end) })
}

function sortByContract<Item extends { readonly address: string }>(items: Item[]): Item[] {
  return items.sort((a, b) => (a.address < b.address ? -1 : a.address > b.address ? 1 : 0))
}
