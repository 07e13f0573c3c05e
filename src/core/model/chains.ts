/** A chain whose name and symbol are known. */
type Chain = {
  /** EVM chain id, decimal. */
  id: string
  name: string
  /** Symbol of the native coin. */
  symbol: string
  /** Other names of the chain, in lower case and without spaces or punctuation. `name` is matched as well. */
  aliases?: readonly string[]
  /** Blockchain id in the Avalanche network, which the service accepts and returns as well. */
  blockchainId?: string
  /**
   * Contracts that present the native coin as an ERC-20 token, in lower case. Their Transfer events duplicate
   * movements that the native value, the internal transactions or the fee already contain.
   */
  coinContracts?: readonly string[]
}

/** System contract of Polygon for its native coin. */
const POLYGON_COIN = '0x0000000000000000000000000000000000001010'
/** System contract `L2BaseToken` of zkSync Era. */
const ZKSYNC_COIN = '0x000000000000000000000000000000000000800a'

/** To add a chain, add a line. */
const CHAINS: readonly Chain[] = [
  { id: '1', name: 'Ethereum', symbol: 'ETH', aliases: ['eth', 'ethereummainnet', 'mainnet'] },
  { id: '10', name: 'OP Mainnet', symbol: 'ETH', aliases: ['optimism', 'op'] },
  { id: '25', name: 'Cronos', symbol: 'CRO' },
  { id: '56', name: 'BNB Smart Chain', symbol: 'BNB', aliases: ['bsc', 'bnb', 'binance', 'bnbchain'] },
  { id: '97', name: 'BNB Smart Chain Testnet', symbol: 'BNB' },
  { id: '100', name: 'Gnosis', symbol: 'xDAI', aliases: ['xdai', 'gnosischain'] },
  {
    ...{ id: '137', name: 'Polygon PoS', symbol: 'POL', aliases: ['polygon', 'matic'] },
    coinContracts: [POLYGON_COIN],
  },
  { id: '146', name: 'Sonic', symbol: 'S' },
  { id: '204', name: 'opBNB', symbol: 'BNB' },
  { id: '280', name: 'zkSync Era Goerli', symbol: 'ETH', coinContracts: [ZKSYNC_COIN] },
  { id: '300', name: 'zkSync Era Sepolia', symbol: 'ETH', coinContracts: [ZKSYNC_COIN] },
  { id: '324', name: 'zkSync Era', symbol: 'ETH', coinContracts: [ZKSYNC_COIN] },
  { id: '1284', name: 'Moonbeam', symbol: 'GLMR' },
  { id: '5000', name: 'Mantle', symbol: 'MNT' },
  { id: '8453', name: 'Base', symbol: 'ETH' },
  { id: '17000', name: 'Holesky', symbol: 'ETH' },
  { id: '42161', name: 'Arbitrum One', symbol: 'ETH', aliases: ['arbitrum', 'arb'] },
  { id: '42170', name: 'Arbitrum Nova', symbol: 'ETH' },
  { id: '42220', name: 'Celo', symbol: 'CELO' },
  {
    ...{ id: '43113', name: 'Avalanche Fuji', symbol: 'AVAX', aliases: ['fuji', 'avalanchetestnet'] },
    blockchainId: 'yH8D7ThNJkxmtkuv2jgBa4P1Rn3Qpr4pPr7QYNfcdoS6k6HWp',
  },
  {
    ...{ id: '43114', name: 'Avalanche C-Chain', symbol: 'AVAX' },
    aliases: ['avalanche', 'avax', 'cchain', 'avalanchemainnet'],
    blockchainId: '2q9e4r6Mu3U68nU1fYjgbR6JvwrRx36CohpAX5UQxse55x1Q5',
  },
  { id: '59144', name: 'Linea', symbol: 'ETH' },
  { id: '80001', name: 'Polygon Mumbai', symbol: 'POL', coinContracts: [POLYGON_COIN] },
  { id: '80002', name: 'Polygon Amoy', symbol: 'POL', coinContracts: [POLYGON_COIN] },
  { id: '81457', name: 'Blast', symbol: 'ETH' },
  { id: '534352', name: 'Scroll', symbol: 'ETH' },
  { id: '7777777', name: 'Zora', symbol: 'ETH' },
  { id: '11155111', name: 'Sepolia', symbol: 'ETH' },
]

const BY_ID: ReadonlyMap<string, Chain> = new Map(CHAINS.map((chain) => [chain.id, chain]))
const ID_BY_BLOCKCHAIN_ID = new Map(
  CHAINS.flatMap(({ id, blockchainId }) => (blockchainId === undefined ? [] : [[blockchainId, id] as const])),
)

/** The table entry of a chain, by any spelling of its id; undefined for an unknown chain. */
export function chainOf(chain: string): Chain | undefined {
  return BY_ID.get(chain) ?? BY_ID.get(evmIdOf(chain) ?? '')
}

/** The id of a chain by its name or an alias; undefined if the table does not contain the name. */
export function chainIdByName(name: string): string | undefined {
  return ID_BY_NAME.get(normalizeName(name))
}

const normalizeName = (word: string) => word.toLowerCase().replace(/[^a-z0-9]/g, '')

const ID_BY_NAME: ReadonlyMap<string, string> = new Map(
  CHAINS.flatMap(({ id, name, aliases = [] }) =>
    [normalizeName(name), ...aliases].map((word) => [word, id] as const),
  ),
)

/** Contracts of this chain that present the native coin as a token. */
export function coinContractsOf(chain: string): readonly string[] {
  return chainOf(chain)?.coinContracts ?? NONE
}

const NONE: readonly string[] = []

/**
 * Converts a number, decimal or hex digits, or a known blockchain id to a decimal EVM chain id; undefined for
 * anything else.
 */
export function evmIdOf(value: unknown): string | undefined {
  if (typeof value === 'number') return Number.isSafeInteger(value) && value >= 0 ? String(value) : undefined
  if (typeof value !== 'string') return undefined
  const isInteger = /^(\d{1,128}|0[xX][\da-fA-F]{1,64})$/.test(value)
  return isInteger ? String(BigInt(value)) : ID_BY_BLOCKCHAIN_ID.get(value)
}

/**
 * Whether a record belongs to the requested chain, given the chain that the record names. Records without a
 * chain belong to it. If the EVM id of the requested chain is unknown, every record does.
 */
export function isOfChain(recordChain: unknown, requested: string): boolean {
  if (recordChain === requested || recordChain === undefined || recordChain === null || recordChain === '')
    return true
  const id = evmIdOf(requested)
  return id === undefined || evmIdOf(recordChain) === id
}
