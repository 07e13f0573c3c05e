import { atomicNetworkOf, blockchainIdOf } from '../core/model/chains.ts'
import type { Chain } from './chains.ts'
import { HttpError } from './http-error.ts'
import { type JsonObject, listOf, objectOf } from './json.ts'
import type { Call, Operation, Service } from './operation.ts'
import { limitPage, readAddress, readChoice, readInteger, readPageQuery, readSingle } from './parameters.ts'

/** Lists the atomic transactions that involve one of the addresses. */
export const listAtomic: Operation = async (call, service) => {
  const { query, path } = call
  const chain = atomicChainOf(call, service)
  const text = readSingle(query, 'addresses')
  if (text === null) throw new HttpError(400, 'addresses must be given, separated by commas.')
  const page = readPageQuery(query)
  const start = readInteger(query, 'startTimestamp')
  const end = readInteger(query, 'endTimestamp')
  const sortOrder = readChoice(query, 'sortOrder', ['asc', 'desc']) ?? 'desc'
  const addresses = text.split(',').map(readAddress)
  const listed = (await atomicTransactionsOf(chain, service)).filter(
    (transaction) =>
      Number(transaction.timestamp) >= (start ?? 0) &&
      Number(transaction.timestamp) < (end ?? Number.POSITIVE_INFINITY) &&
      movementsOf(transaction).some(({ address }) => addresses.includes(address)),
  )
  const key = ['atomic', path.network, addresses.join(','), sortOrder, page.pageSize, start, end]
  const pageQuery = limitPage({ ...page, sortOrder }, query, service.quirks)
  const { selected, next } = service.selectPage(listed, key, pageQuery)
  return { ...next, transactions: selected, chainInfo: { chainName: 'c-chain', network: path.network } }
}

/** Finds the C-Chain of a network. Throws `HttpError` 404 if there is none here. */
function atomicChainOf({ path: { network, blockchainId } }: Call, { chains }: Service): Chain {
  const id = chains.ids.find((chain) => atomicNetworkOf(chain)?.name === network)
  if (id !== undefined && (blockchainId === 'c-chain' || blockchainId === blockchainIdOf(id)))
    return chains.get(id)
  throw new HttpError(404, `network ${network} with blockchain ${blockchainId} is not served here.`)
}

/** The sum of the imports and exports of a wallet up to a block, in wei. */
export async function atomicBalance(
  chain: Chain,
  address: string,
  block: number,
  service: Service,
): Promise<bigint> {
  const transactions = await atomicTransactionsOf(chain, service)
  return transactions
    .filter(({ blockHeight }) => Number(blockHeight) <= block)
    .flatMap(movementsOf)
    .filter(
      (movement) => movement.address === address && movement.asset === atomicNetworkOf(chain.id)?.coinAsset,
    )
    .reduce((sum, { value }) => sum + value * WEI_PER_NAVAX, 0n)
}

const WEI_PER_NAVAX = 10n ** 9n

/** The served transactions: those up to the head. Without the quirk, the chain has none. */
async function atomicTransactionsOf(chain: Chain, { quirks }: Service): Promise<readonly JsonObject[]> {
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
    ...listOf(transaction, 'evmInputs').map((input) =>
      movement(input.fromAddress, objectOf(input.asset), -1n),
    ),
    ...listOf(transaction, 'evmOutputs').map((output) =>
      movement(output.toAddress, objectOf(output.asset), 1n),
    ),
  ]
}
