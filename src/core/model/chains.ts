/** A chain whose name and symbol are known. */
type Chain = {
  /** EVM chain id, decimal. */
  id: string
  name: string
  /** Symbol of the native coin. */
  symbol: string
  /** Address of a block explorer with the paths `/tx/` and `/address/`, to which reports link. */
  explorer?: string | undefined
  /** Other names of the chain, in lower case and without spaces or punctuation. `name` is matched as well. */
  aliases: readonly string[]
  /** Blockchain id in the Avalanche network, which the service accepts and returns as well. */
  blockchainId?: string
  /** Only the C-Chain: the network whose X-Chain and P-Chain it exchanges coins with by atomic transactions. */
  atomic?: AtomicNetwork
}

/** An Avalanche network whose C-Chain has atomic transactions: imports from and exports to the X-Chain and the P-Chain. */
type AtomicNetwork = {
  /** Name in the paths of the service. */
  name: 'mainnet' | 'fuji'
  /** Id of AVAX as an asset. */
  coinAsset: string
}

/** The lines of a table as lists of cells. */
const cellsOf = (table: string, separator: string | RegExp) =>
  table
    .trim()
    .split('\n')
    .map((line) => line.trim().split(separator))

const listsById = (table: string): ReadonlyMap<string, readonly string[]> =>
  new Map(cellsOf(table, /\s+/).map(([id = '', ...list]) => [id, list]))

/**
 * Contracts that present the native coin as an ERC-20 token, in lower case, by chain id. Their Transfer events duplicate
 * movements that the native value, the internal transactions or the fee already contain.
 */
const COIN_CONTRACTS = listsById(`
  137    0x0000000000000000000000000000000000001010
  280    0x000000000000000000000000000000000000800a
  300    0x000000000000000000000000000000000000800a
  324    0x000000000000000000000000000000000000800a
  80001  0x0000000000000000000000000000000000001010
  80002  0x0000000000000000000000000000000000001010
`)

/**
 * Contracts that wrap the native coin one to one (WETH9 and its copies), in lower case, by chain id. They emit no Transfer
 * event when they do, so the ledger adds the movement of the token. Contracts whose Transfer events already contain it are
 * not listed: WETH of Arbitrum, Scroll and zkSync Era, and wS of Sonic. Some of these also have `depositTo` and
 * `withdrawTo`, whose token belongs to another account than the coin.
 */
const WRAPPED_COINS = listsById(`
  1        0xc02aaa39b223fe8d0a0e5c4f27ead9083c756cc2
  10       0x4200000000000000000000000000000000000006
  25       0x5c7f8a570d578ed84e63fdfa7b1ee72deae1ae23
  56       0xbb4cdb9cbd36b01bd1cbaebf2de08d9173bc095c
  97       0xae13d989dac2f0debff460ac112a837c89baa7cd
  100      0xe91d153e0b41518a2ce8dd3d7944fa863463a97d
  137      0x0d500b1d8e8ef31e21c99d1db9a6444d3adf1270
  204      0x4200000000000000000000000000000000000006
  1284     0xacc15dc74880c9944775448304b263d191c6077f
  5000     0x78c1b0c915c4faa5fffa6cabf0219da63d7f4cb8
  8453     0x4200000000000000000000000000000000000006
  17000    0x94373a4919b3240d86ea41593d5eba789fef3848
  43113    0xd00ae08403b9bbb9124bb305c09058e32c39a48c
  43114    0xb31f66aa3c1e785363f0875a1b74e27b85fd66c7
  59144    0xe5d7c2a44ffddf6b295a15c148167daaaf5cf34f
  81457    0x4300000000000000000000000000000000000004
  7777777  0x4200000000000000000000000000000000000006
  11155111 0xfff9976782d46cc05630d1f6ebab18b2324d6b14 0x7b79995e5f793a07bc00c21412e50ecae098e7f9
`)

const AVALANCHE: Readonly<Record<string, Pick<Chain, 'blockchainId' | 'atomic'>>> = {
  '43113': {
    blockchainId: 'yH8D7ThNJkxmtkuv2jgBa4P1Rn3Qpr4pPr7QYNfcdoS6k6HWp',
    atomic: { name: 'fuji', coinAsset: 'U8iRqJoiJm8xZHAacmvYyZVwqQx6uDNtQeP3CQ6fcgQk3JqnK' },
  },
  '43114': {
    blockchainId: '2q9e4r6Mu3U68nU1fYjgbR6JvwrRx36CohpAX5UQxse55x1Q5',
    atomic: { name: 'mainnet', coinAsset: 'FvwEAhmxKfeiG8SnEvq42hc6whRyY3EFYAvebMqDNDGCgxN5Z' },
  },
}

/** Id, name, symbol, explorer and aliases. To add a chain, add a line. */
const CHAINS: readonly Chain[] = cellsOf(
  `
  1        | Ethereum                | ETH  | https://etherscan.io               | eth ethereummainnet mainnet
  10       | OP Mainnet              | ETH  | https://optimistic.etherscan.io    | optimism op
  25       | Cronos                  | CRO  | https://explorer.cronos.org
  56       | BNB Smart Chain         | BNB  | https://bscscan.com                | bsc bnb binance bnbchain
  97       | BNB Smart Chain Testnet | BNB  | https://testnet.bscscan.com
  100      | Gnosis                  | xDAI | https://gnosisscan.io              | xdai gnosischain
  137      | Polygon PoS             | POL  | https://polygonscan.com            | polygon matic
  146      | Sonic                   | S    | https://sonicscan.org
  204      | opBNB                   | BNB  | https://opbnbscan.com
  280      | zkSync Era Goerli       | ETH
  300      | zkSync Era Sepolia      | ETH  | https://sepolia.explorer.zksync.io
  324      | zkSync Era              | ETH  | https://explorer.zksync.io
  1284     | Moonbeam                | GLMR | https://moonscan.io
  5000     | Mantle                  | MNT  | https://mantlescan.xyz
  8453     | Base                    | ETH  | https://basescan.org
  17000    | Holesky                 | ETH  | https://holesky.etherscan.io
  42161    | Arbitrum One            | ETH  | https://arbiscan.io                | arbitrum arb
  42170    | Arbitrum Nova           | ETH  | https://nova.arbiscan.io
  42220    | Celo                    | CELO | https://celoscan.io
  43113    | Avalanche Fuji          | AVAX | https://testnet.snowtrace.io       | fuji avalanchetestnet
  43114    | Avalanche C-Chain       | AVAX | https://snowtrace.io               | avalanche avax cchain avalanchemainnet
  59144    | Linea                   | ETH  | https://lineascan.build
  80001    | Polygon Mumbai          | POL
  80002    | Polygon Amoy            | POL  | https://amoy.polygonscan.com
  81457    | Blast                   | ETH  | https://blastscan.io
  534352   | Scroll                  | ETH  | https://scrollscan.com
  7777777  | Zora                    | ETH  | https://explorer.zora.energy
  11155111 | Sepolia                 | ETH  | https://sepolia.etherscan.io
`,
  /\s*\|\s*/,
).map(([id = '', name = '', symbol = '', explorer, aliases = '']) => {
  return { id, name, symbol, explorer, aliases: aliases.match(/\S+/g) ?? [], ...AVALANCHE[id] }
})

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
  CHAINS.flatMap(({ id, name, aliases }) =>
    [normalizeName(name), ...aliases].map((word) => [word, id] as const),
  ),
)

/** Contracts of this chain that present the native coin as a token. */
export function coinContractsOf(chain: string): readonly string[] {
  return COIN_CONTRACTS.get(chainIdOf(chain)) ?? []
}

/** The network of a chain that has atomic transactions, by any spelling of its id; undefined for all other chains. */
export function atomicNetworkOf(chain: string): AtomicNetwork | undefined {
  return chainOf(chain)?.atomic
}

/** The blockchain id of a chain, by any spelling of its id; undefined if it has none or it is unknown. */
export function blockchainIdOf(chain: string): string | undefined {
  return chainOf(chain)?.blockchainId
}

/** The wrapped native coin of a job. It has the decimals of the coin. */
export type WrappedCoin = {
  /** In lower case; most chains have one. */
  contracts: readonly string[]
  /** Such as WAVAX; null if the symbol of the coin is unknown. */
  symbol: string | null
}

/** The fields of a job, or of the job in a manifest, that its wrapped coin depends on. */
export type WrapSettings = {
  chain: string
  /** Contracts besides those of the table, in lower case. @default none */
  wrappedCoins?: readonly string[] | undefined
  nativeSymbol?: string | null | undefined
}

/** The wrapped native coin of a job: that of its chain in the table, and the contracts that the job adds; undefined if there are none. */
export function wrappedCoinOf({ chain, wrappedCoins, nativeSymbol }: WrapSettings): WrappedCoin | undefined {
  const entry = chainOf(chain)
  const contracts = [...(WRAPPED_COINS.get(chainIdOf(chain)) ?? []), ...(wrappedCoins ?? [])]
  if (contracts.length === 0) return undefined
  const coin = entry?.symbol ?? nativeSymbol ?? null
  return { contracts, symbol: coin === null ? null : `W${coin.toUpperCase()}` }
}

/**
 * Converts a number, decimal or hex digits, or a known blockchain id to a decimal EVM chain id; undefined for
 * anything else.
 */
export function evmIdOf(value: unknown): string | undefined {
  if (typeof value === 'number') return Number.isSafeInteger(value) && value >= 0 ? String(value) : undefined
  if (typeof value !== 'string') return undefined
  if (BY_ID.has(value)) return value
  const isInteger = /^(\d{1,128}|0[xX][\da-fA-F]{1,64})$/.test(value)
  return isInteger ? String(BigInt(value)) : ID_BY_BLOCKCHAIN_ID.get(value)
}

/** The id of a job's chain in tables and files: the decimal EVM id, or the job's own text if that is unknown. */
export const chainIdOf = (chain: string): string => evmIdOf(chain) ?? chain

/**
 * Parses a chain in a user's file: any spelling of its id, or a name or an alias in the table. `own` is the chain of an
 * export, whose id may be any text. Undefined for an unknown chain.
 */
export function parseChain(text: string, own?: string): string | undefined {
  return evmIdOf(text) ?? chainIdByName(text) ?? (text === own ? own : undefined)
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

/**
 * Whether a transaction costs gas used × gas price and nothing else, apart from blobs; undefined for a chain that the
 * table does not have.
 */
export function paysGasOnly(chain: string): boolean | undefined {
  const id = chainOf(chain)?.id
  return id === undefined ? undefined : GAS_ONLY_CHAINS.has(id)
}

/** Chains of which this is documented. The fee of any other chain may have further parts, such as one for publishing on L1. */
const GAS_ONLY_CHAINS: ReadonlySet<string> = new Set([
  // Ethereum, Holesky, Sepolia: https://eips.ethereum.org/EIPS/eip-1559
  '1',
  '17000',
  '11155111',
  // BNB Smart Chain and its testnet, EIP-1559 with a base fee of 0: https://github.com/bnb-chain/BEPs/blob/master/BEPs/BEP226.md
  '56',
  '97',
  // Gnosis, EIP-1559 with a collector of the base fee: https://docs.gnosischain.com/about/specs/hard-forks/london
  '100',
  // Polygon PoS, Mumbai and Amoy: https://docs.polygon.technology/pos/concepts/transactions/eip-1559/
  '137',
  '80001',
  '80002',
  // Arbitrum One and Nova, whose gas used contains the part for L1: https://docs.dune.com/data-tables/evm-blockchains/raw-data/chains/arbitrum
  '42161',
  '42170',
  // Avalanche C-Chain and Fuji: https://build.avax.network/docs/dapps/advanced-tutorials/dynamic-gas-fees
  '43113',
  '43114',
  // Linea, whose gas price contains the part for L1: https://docs.linea.build/network/overview/predictable-pricing
  '59144',
])
