import { type Asset, assetBalanceKey } from '../../core/model/asset.ts'
import { type BalanceSum, compareSums } from '../../ledger/balances/balance-sums.ts'
import {
  type BalanceReader,
  type Held,
  KINDS,
  type Kind,
  type ServiceBalances,
} from '../../sources/balances.ts'
import type { LedgerWallet } from './ledger-sums.ts'

/** A balance according to the ledger and to the service, in the smallest unit. */
export type ComparedBalance = Asset & {
  wallet: string
  symbol: string | null
  /** The sum of the ledger's rows, and the opening balance if it is given. */
  ledger: bigint
  /** By how much the balance changed in the exported blocks: from its beginning or opening, the balance after the last block. */
  service: bigint
}

/** Why a kind of a wallet's assets was not compared. */
export type Skip = 'not-offered' | 'later-transactions' | 'no-opening'

export type ComparedWallet = {
  wallet: LedgerWallet
  balances: readonly ComparedBalance[]
  skipped: readonly { kind: Kind; why: Skip }[]
  /** Native coins before the first exported block: those that are given, what the service had then, or at genesis. */
  opening: bigint
  /** Kinds of which the service stated what the wallet had before the first exported block; without zero balances. */
  learned: readonly { kind: Kind; held: readonly Held[] }[]
}

/**
 * Compares a wallet's sums with the service. Only kinds and ERC-20 tokens of which the ledger has rows are requested, and
 * the native coin always. A history that begins after block 0, without given opening balances, is compared with the
 * difference between two blocks.
 */
export async function compareWallet(wallet: LedgerWallet, reader: BalanceReader): Promise<ComparedWallet> {
  let later: Promise<boolean> | undefined
  const hasLater = () => {
    later ??= reader.hasTransactionsFrom(wallet.address, wallet.toBlock)
    return later
  }
  const results = await Promise.all(
    KINDS.map(async (kind) => ({ kind, ...(await compareKind(kind, { wallet, reader, hasLater })) })),
  )
  return {
    wallet,
    balances: results.flatMap(({ balances = [] }) => balances),
    skipped: results.flatMap(({ kind, why }) => (why === undefined ? [] : [{ kind, why }])),
    opening: results.reduce((sum, { opening = 0n }) => sum + opening, 0n),
    learned: results.flatMap(({ kind, before }) =>
      before === undefined ? [] : [{ kind, held: [...before.values()].filter(({ value }) => value !== 0n) }],
    ),
  }
}

type ComparedKind = {
  balances?: ComparedBalance[]
  why?: Skip
  opening?: bigint
  /** What the service stated before the first exported block; undefined if it was not asked. */
  before?: ServiceBalances
}

type Comparison = {
  wallet: LedgerWallet
  reader: BalanceReader
  /** Whether a transaction followed the exported blocks. */
  hasLater: () => Promise<boolean>
}

async function compareKind(kind: Kind, comparison: Comparison): Promise<ComparedKind> {
  const { wallet, reader } = comparison
  const sums = wallet.sums.filter(({ type }) => type === kind)
  if (sums.length === 0) return {}
  if (reader.latestOnly.has(kind)) return compareLatest(kind, sums, comparison)
  const contracts = contractsOf(kind, sums)
  const read = (block: number) => reader.read(kind, { wallet: wallet.address, block, contracts })
  const [after, before] = await Promise.all([
    read(wallet.toBlock - 1),
    hasEarlierBalances(wallet) ? read(wallet.fromBlock - 1) : NOTHING,
  ])
  if (after === undefined || before === undefined) return { why: 'not-offered' }
  const balances = unite(wallet, sums, { after, before })
  if (kind === 'native' && wallet.opening !== undefined) return { balances, opening: wallet.opening }
  const nativeBefore = before.get(NATIVE_KEY)?.value ?? 0n
  if (kind !== 'native' || wallet.fromBlock > 0 || !balances.some(isDifferent))
    return { balances, opening: nativeBefore, ...(wallet.opening === undefined ? { before } : {}) }
  return compareFromGenesis(wallet, sums, { after, genesis: await read(0) })
}

/** Whether a wallet may have had balances before the exported blocks that its sums do not contain. */
export const hasEarlierBalances = ({ fromBlock, opening }: LedgerWallet): boolean =>
  fromBlock > 0 && opening === undefined

const NOTHING: ServiceBalances = new Map()
const NATIVE_KEY = assetBalanceKey('', { type: 'native', address: null, tokenId: null })

/**
 * Coins of block 0 are in no transaction. Requested only if the sum differs, so that most wallets cost one request. A
 * service may not know the state after block 0.
 */
function compareFromGenesis(
  wallet: LedgerWallet,
  sums: readonly BalanceSum[],
  { after, genesis = NOTHING }: { after: ServiceBalances; genesis: ServiceBalances | undefined },
): ComparedKind {
  const opening = genesis.get(NATIVE_KEY)?.value ?? 0n
  return { balances: unite(wallet, sums, { after, before: genesis }), opening, before: genesis }
}

/** Current balances are those after the last exported block if no transaction followed it. */
async function compareLatest(
  kind: Kind,
  sums: readonly BalanceSum[],
  { wallet, reader, hasLater }: Comparison,
): Promise<ComparedKind> {
  if (hasEarlierBalances(wallet)) return { why: 'no-opening' }
  if (await hasLater()) return { why: 'later-transactions' }
  const contracts = contractsOf(kind, sums)
  const after = await reader.read(kind, { wallet: wallet.address, block: 'latest', contracts })
  return after === undefined
    ? { why: 'not-offered' }
    : { balances: unite(wallet, sums, { after, before: NOTHING }) }
}

const contractsOf = (kind: Kind, sums: readonly BalanceSum[]) =>
  kind === 'erc20' ? sums.flatMap(({ address }) => address ?? []) : []

type Snapshots = { after: ServiceBalances; before: ServiceBalances }

/** Compares every asset that the ledger or the service has. */
function unite(
  { address: wallet }: LedgerWallet,
  sums: readonly BalanceSum[],
  { after, before }: Snapshots,
): ComparedBalance[] {
  const changeOf = (key: string) => (after.get(key)?.value ?? 0n) - (before.get(key)?.value ?? 0n)
  const inLedger = sums.map(({ type, address, tokenId, symbol, value }) => {
    const asset = { type, address, tokenId }
    return { ...asset, wallet, symbol, ledger: value, service: changeOf(assetBalanceKey('', asset)) }
  })
  const known = new Set(sums.map((sum) => assetBalanceKey('', sum)))
  const symbols = new Map(sums.map(({ address, symbol }) => [address, symbol]))
  const others = new Map([...before, ...after].filter(([key]) => !known.has(key)))
  const inServiceOnly = [...others].map(([key, { type, address, tokenId }]) => ({
    type,
    address,
    tokenId,
    wallet,
    symbol: symbols.get(address) ?? null,
    ledger: 0n,
    service: changeOf(key),
  }))
  return [...inLedger, ...inServiceOnly].sort(compareSums)
}

export const isDifferent = ({ ledger, service }: Pick<ComparedBalance, 'ledger' | 'service'>): boolean =>
  ledger !== service
