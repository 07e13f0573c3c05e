import type { Asset } from '../../core/model/asset.ts'
import {
  type BalanceQuery,
  type BalanceReader,
  createAvailability,
  type Held,
  type Kind,
  type OpenedBalances,
  undefinedIfRefused,
} from '../balances.ts'
import type { ServiceAccess } from '../service-access.ts'
import { CONTRACTS_PER_REQUEST } from './balance-requests.ts'
import { type OpenedService, openService } from './open-service.ts'

/** Opens the balances that a service reports. Throws USAGE like `openService`. */
export async function openBalances(access: ServiceAccess, chain: string): Promise<OpenedBalances> {
  const service = await openService(access)
  const { counts, close } = service
  return { reader: createBalanceReader(service, chain), counts, close }
}

function createBalanceReader({ client, signal }: OpenedService, chainId: string): BalanceReader {
  const options = { signal }
  const { ifOffered, refusal } = createAvailability()
  const readers: Record<Kind, (query: BalanceQuery) => Promise<Held[]>> = {
    native: async (query) => {
      const { balance } = await client.getNativeBalance({ chainId, ...atBlock(query) }, options)
      return [{ ...NATIVE, value: BigInt(balance) }]
    },
    erc20: async ({ contracts, ...query }) => {
      const batches = batchesOf(contracts, CONTRACTS_PER_REQUEST)
      const lists = await Promise.all(
        batches.map(async (contractAddresses) => {
          const pages = client.listErc20Balances({ chainId, contractAddresses, ...atBlock(query) }, options)
          return collect(pages, ({ erc20TokenBalances }) => erc20TokenBalances.map(toErc20))
        }),
      )
      return lists.flat()
    },
    erc721: async ({ wallet: address }) =>
      collect(client.listErc721Balances({ chainId, address }, options), ({ erc721TokenBalances }) =>
        erc721TokenBalances.map((token) => ({ ...nftOf('erc721', token), value: 1n })),
      ),
    erc1155: async (query) =>
      collect(
        client.listErc1155Balances({ chainId, ...atBlock(query) }, options),
        ({ erc1155TokenBalances }) => erc1155TokenBalances.map(toErc1155),
      ),
  }
  return {
    // The NFTs that a wallet owns now.
    latestOnly: new Set(['erc721']),
    read: (kind, query) => ifOffered(kind, () => readers[kind](query)),
    readFee: async (txHash) => {
      const details = await client.getTransaction({ chainId, txHash }, options).catch(undefinedIfRefused)
      return details === undefined ? undefined : feeOf({ ...details.nativeTransaction })
    },
    hasTransactionsFrom: async (address, startBlock) => {
      const query = { chainId, address, startBlock, pageSize: 1 }
      return (await client.walletTransactionsPage(query, options)).transactions.length > 0
    },
    refusal,
  }
}

const atBlock = ({ wallet: address, block }: Pick<BalanceQuery, 'wallet' | 'block'>) =>
  block === 'latest' ? { address } : { address, blockNumber: block }

/** gas used × the lower one of the fee cap and of base fee + tip; undefined if one of them is unknown. */
function feeOf({
  gasUsed,
  baseFeePerGas,
  maxFeePerGas,
  maxPriorityFeePerGas,
}: FeeFields): bigint | undefined {
  const [used, base, cap, tip] = [gasUsed, baseFeePerGas, maxFeePerGas, maxPriorityFeePerGas].map(digitsOf)
  if (used === undefined || base === undefined || cap === undefined || tip === undefined) return undefined
  const isCapped = base + tip > cap
  return used * (isCapped ? cap : base + tip)
}

type FeeFields = Partial<
  Record<'gasUsed' | 'baseFeePerGas' | 'maxFeePerGas' | 'maxPriorityFeePerGas', unknown>
>

const digitsOf = (value: unknown): bigint | undefined =>
  typeof value === 'string' && /^\d{1,78}$/.test(value) ? BigInt(value) : undefined

const NATIVE: Asset = { type: 'native', address: null, tokenId: null }

const toErc20 = ({ address, balance }: { address: string; balance: string }): Held => ({
  type: 'erc20',
  address: address.toLowerCase(),
  tokenId: null,
  value: BigInt(balance),
})

const toErc1155 = (token: { address: string; tokenId: string; balance: string }): Held => ({
  ...nftOf('erc1155', token),
  value: BigInt(token.balance),
})

function nftOf(type: Kind, { address, tokenId }: { address: string; tokenId: string }): Asset {
  return { type, address: address.toLowerCase(), tokenId: String(BigInt(tokenId)) }
}

async function collect<Page>(pages: AsyncIterable<Page>, entriesOf: (page: Page) => Held[]): Promise<Held[]> {
  const held: Held[] = []
  for await (const page of pages) for (const entry of entriesOf(page)) held.push(entry)
  return held
}

function batchesOf<T>(items: readonly T[], size: number): T[][] {
  return Array.from({ length: Math.ceil(items.length / size) }, (_, at) =>
    items.slice(at * size, (at + 1) * size),
  )
}
