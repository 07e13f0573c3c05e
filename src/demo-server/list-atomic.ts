import { atomicNetworkOf, blockchainIdOf } from '../core/model/chains.ts'
import type { Chain } from './chain.ts'
import { HttpError } from './http-error.ts'
import { type JsonObject, listOf, objectOf } from './json.ts'
import type { ListingContext, Page } from './list-wallet.ts'
import type { Chains } from './open-chains.ts'
import { pageLimit } from './page-limit.ts'
import { readAddress } from './path-parameters.ts'
import { readAtomicQuery } from './query.ts'
import type { Quirk } from './quirks.ts'
import type { Call } from './route.ts'

type AtomicPage = Page & { readonly chainInfo: JsonObject }

/** Finds the C-Chain of a network. Throws `HttpError` 404 if there is none here. */
export function atomicChainOf({ path: { network, blockchainId } }: Call, chains: Chains): Chain {
  const id = chains.ids.find((chain) => atomicNetworkOf(chain)?.name === network)
  if (id !== undefined && (blockchainId === 'c-chain' || blockchainId === blockchainIdOf(id)))
    return chains.get(id)
  throw new HttpError(404, `network ${network} with blockchain ${blockchainId} is not served here.`)
}

/** Lists the atomic transactions that involve one of the addresses. */
export async function listAtomic(
  { query, path }: Call,
  { chain, tokens, quirks }: Omit<ListingContext, 'refreshMetadata'>,
): Promise<AtomicPage> {
  const listing = readAtomicQuery(query)
  const { pageToken, pageSize, sortOrder, startTimestamp, endTimestamp } = listing
  const addresses = listing.addresses.map(readAddress)
  const key = ['atomic', path.network, addresses.join(','), sortOrder, pageSize, startTimestamp, endTimestamp]
  const listed = (await atomicTransactionsOf(chain, quirks)).filter(
    (transaction) =>
      Number(transaction.timestamp) >= (startTimestamp ?? 0) &&
      Number(transaction.timestamp) < (endTimestamp ?? Number.POSITIVE_INFINITY) &&
      movementsOf(transaction).some(({ address }) => addresses.includes(address)),
  )
  if (sortOrder === 'desc') listed.reverse()
  const start = pageToken === null ? 0 : tokens.decode(key, pageToken)
  const end = start + pageLimit({ query, pageSize, sortOrder }, quirks)
  const next = end < listed.length ? { nextPageToken: tokens.encode(key, end) } : {}
  const chainInfo = { chainName: 'c-chain', network: path.network }
  return { ...next, transactions: listed.slice(start, end), chainInfo }
}

/** The sum of the imports and exports of a wallet up to a block, in wei. */
export async function atomicBalance(
  chain: Chain,
  { address, block, quirks }: { address: string; block: number; quirks: ReadonlySet<Quirk> },
): Promise<bigint> {
  let sum = 0n
  for (const transaction of await atomicTransactionsOf(chain, quirks))
    if (Number(transaction.blockHeight) <= block)
      for (const movement of movementsOf(transaction))
        if (movement.address === address && movement.asset === atomicNetworkOf(chain.id)?.coinAsset)
          sum += movement.value * WEI_PER_NAVAX
  return sum
}

const WEI_PER_NAVAX = 10n ** 9n

/** The served transactions: those up to the head. Without the quirk, the chain has none. */
async function atomicTransactionsOf(chain: Chain, quirks: ReadonlySet<Quirk>): Promise<JsonObject[]> {
  if (!quirks.has('atomic-transfers')) return []
  const head = chain.head()
  return (await chain.atomic()).filter(({ blockHeight }) => Number(blockHeight) <= head)
}

function movementsOf(transaction: JsonObject): { address: string; asset: unknown; value: bigint }[] {
  const movement = (party: unknown, asset: JsonObject, sign: bigint) => {
    return {
      address: String(party).toLowerCase(),
      asset: asset.assetId,
      value: sign * BigInt(String(asset.amount)),
    }
  }
  return [
    ...listOf(transaction, 'evmInputs').map((one) => movement(one.fromAddress, objectOf(one.asset), -1n)),
    ...listOf(transaction, 'evmOutputs').map((one) => movement(one.toAddress, objectOf(one.asset), 1n)),
  ]
}
