import { ExportError } from '../../core/model/errors.ts'
import { type Asset, assetBalanceKey } from '../../ledger/balances/balance-sums.ts'
import type { OpenedService } from '../../sources/data-api/open-service.ts'

/** Kinds of assets in the order of `ASSET_TYPES`. */
export const KINDS = ['native', 'erc20', 'erc721', 'erc1155'] as const
export type Kind = (typeof KINDS)[number]

/** Balances by the key of the asset (`assetBalanceKey`); what is absent is zero. */
export type ServiceBalances = ReadonlyMap<string, Asset & { value: bigint }>

/** Balances according to the service. Undefined if it lacks the endpoint, or refuses the wallet or the block. */
export type BalanceReader = {
  /** After `block`. `contracts` are the ERC-20 tokens to ask for. */
  read(
    kind: Exclude<Kind, 'erc721'>,
    query: { wallet: string; block: number; contracts: readonly string[] },
  ): Promise<ServiceBalances | undefined>
  /** The NFTs that a wallet owns now. */
  readNfts(wallet: string): Promise<ServiceBalances | undefined>
  /** The fee that the details of a transaction state; undefined if the service does not state it. */
  readFee(txHash: string): Promise<bigint | undefined>
  /** Whether the service lists a transaction of the wallet from this block on. */
  hasTransactionsFrom(wallet: string, block: number): Promise<boolean>
  /** The first refusal other than 404; undefined if there was none. */
  refusal(): ExportError | undefined
}

/** ERC-20 contracts per request. Each takes 45 characters of the URL. */
export const CONTRACTS_PER_REQUEST = 50

/** This many refused requests of a kind, without a single answer, mean that the service has no such endpoint. */
const MAX_REFUSED = 3

export function createBalanceReader({ client, signal }: OpenedService, chainId: string): BalanceReader {
  const options = { signal }
  const { ifOffered, refusal } = createAvailability()
  const readers: Record<Exclude<Kind, 'erc721'>, ReadKind> = {
    native: async ({ address, blockNumber }) => {
      const { balance } = await client.getNativeBalance({ chainId, address, blockNumber }, options)
      return [{ ...NATIVE, value: BigInt(balance) }]
    },
    erc20: async ({ contracts, ...query }) => {
      const batches = batchesOf(contracts, CONTRACTS_PER_REQUEST)
      const found = await Promise.all(
        batches.map(async (contractAddresses) => {
          const pages = client.listErc20Balances({ chainId, contractAddresses, ...query }, options)
          return collect(pages, ({ erc20TokenBalances }) => erc20TokenBalances.map(toErc20))
        }),
      )
      return found.flat()
    },
    erc1155: async ({ address, blockNumber }) =>
      collect(
        client.listErc1155Balances({ chainId, address, blockNumber }, options),
        ({ erc1155TokenBalances }) => erc1155TokenBalances.map(toErc1155),
      ),
  }
  return {
    read: (kind, { wallet, block, contracts }) =>
      ifOffered(kind, () => readers[kind]({ address: wallet, blockNumber: block, contracts })),
    readNfts: (address) =>
      ifOffered('erc721', () =>
        collect(client.listErc721Balances({ chainId, address }, options), ({ erc721TokenBalances }) =>
          erc721TokenBalances.map((token) => ({ ...nftOf('erc721', token), value: 1n })),
        ),
      ),
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

/** Whether the service refuses this request, and may accept others. 401 concerns the key. */
const isRefusal = (thrown: unknown): thrown is ExportError =>
  thrown instanceof ExportError &&
  (thrown.code === 'REQUEST_REFUSED' || (thrown.code === 'KEY_REFUSED' && thrown.status === 403))

function undefinedIfRefused(thrown: unknown): undefined {
  if (!isRefusal(thrown)) throw thrown
}

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

type Found = Asset & { value: bigint }
type ReadKind = (query: {
  address: string
  blockNumber: number
  contracts: readonly string[]
}) => Promise<Found[]>

const NATIVE: Asset = { type: 'native', address: null, tokenId: null }

const toErc20 = ({ address, balance }: { address: string; balance: string }): Found => ({
  ...{ type: 'erc20', address: address.toLowerCase(), tokenId: null, value: BigInt(balance) },
})

const toErc1155 = (token: { address: string; tokenId: string; balance: string }): Found => ({
  ...nftOf('erc1155', token),
  value: BigInt(token.balance),
})

function nftOf(type: Kind, { address, tokenId }: { address: string; tokenId: string }): Asset {
  return { type, address: address.toLowerCase(), tokenId: String(BigInt(tokenId)) }
}

async function collect<Page>(
  pages: AsyncIterable<Page>,
  entriesOf: (page: Page) => Found[],
): Promise<Found[]> {
  const found: Found[] = []
  for await (const page of pages) for (const entry of entriesOf(page)) found.push(entry)
  return found
}

/** Runs reads, and turns refusals into undefined. Sends no further requests of a kind that the service lacks. */
function createAvailability() {
  const answered = new Set<Kind>()
  const refused = new Map<Kind, number>()
  let refusal: ExportError | undefined
  const ifOffered = async (
    kind: Kind,
    read: () => Promise<Found[]>,
  ): Promise<ServiceBalances | undefined> => {
    if (!answered.has(kind) && (refused.get(kind) ?? 0) >= MAX_REFUSED) return undefined
    try {
      const found = await read()
      answered.add(kind)
      return new Map(found.map((entry) => [assetBalanceKey('', entry), entry]))
    } catch (thrown) {
      if (!isRefusal(thrown)) throw thrown
      if (thrown.status !== 404) refusal ??= thrown
      refused.set(kind, (refused.get(kind) ?? 0) + 1)
      return undefined
    }
  }
  return { ifOffered, refusal: () => refusal }
}

function batchesOf<T>(items: readonly T[], size: number): T[][] {
  return Array.from({ length: Math.ceil(items.length / size) }, (_, at) =>
    items.slice(at * size, (at + 1) * size),
  )
}
