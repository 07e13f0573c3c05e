import { balanceColumns } from '../../ledger/balances/balance-columns.ts'
import type { OpenExport } from '../../read/open-export.ts'
import { type BalanceReader, KINDS, type Kind } from '../../sources/balances.ts'
import { type ComparedBalance, type ComparedWallet, isDifferent, type Skip } from './compare-wallet.ts'
import type { LedgerSums } from './ledger-sums.ts'
import { type ExportedChain, tokenCause, unlocatedCoinCause } from './likely-cause.ts'
import {
  type CoinDifference,
  exportedChainOf,
  type LocatedDifference,
  locateDifferences,
} from './locate-differences.ts'

/** A balance with the columns of CONTRACT section 6. */
export type ReconciledBalance = {
  wallet_address: string
  wallet_label: string | null
  asset_type: string
  asset_address: string | null
  asset_symbol: string | null
  token_id: string | null
  ledger_value: bigint
  service_value: bigint
  /** service_value - ledger_value. */
  difference: bigint
  /** null where there is no difference. */
  likely_cause: string | null
}

/** Balances of a kind of asset. */
type KindCounts = { compared: number; different: number }

export type ReconcileVerdict = {
  /** True if all compared balances agree. */
  ok: boolean
  /** The last block of the export. Wallets that were read to an earlier block are compared there. */
  block: number
  /**
   * Wallets of the export; those that were selected; those whose native coin was compared; of these, those whose native
   * coin agrees, and those of which every compared balance agrees.
   */
  wallets: {
    exported: number
    selected: number
    compared: number
    nativeReconciled: number
    reconciled: number
  }
  balances: Readonly<Record<Kind, KindCounts>>
  /** Number of wallets of which a kind of asset was not compared, by reason. */
  skipped: readonly { kind: Kind; why: Skip; wallets: number }[]
  /** Wallets whose coins at genesis count as an opening balance. */
  genesisWallets: number
  /** Differences, or all balances if they were requested. Sorted by wallet, asset type, contract and token id. */
  rows: readonly ReconciledBalance[]
  /** Where differences of the native coin begin, by wallet. */
  located: ReadonlyMap<string, LocatedDifference>
}

export type VerdictContext = {
  compared: readonly ComparedWallet[]
  sums: LedgerSums
  reader: BalanceReader
  lastBlock: number
  all: boolean
  bisect: boolean
}

/** Counts the differences, and finds their likely causes. */
export async function buildVerdict(output: OpenExport, context: VerdictContext): Promise<ReconcileVerdict> {
  const { compared, reader, lastBlock: block, all, bisect } = context
  const differing = compared.flatMap((one): CoinDifference[] =>
    one.balances.filter(isNativeDifference).map((coin) => ({ ...one, coin })),
  )
  const located = bisect ? await locateDifferences(output, differing, reader) : new Map()
  const isGenesisUnknown = reader.latestOnly.has('native')
  const hasOpening = compared.some(({ wallet }) => wallet.opening !== undefined)
  const chain = { ...exportedChainOf(output), isGenesisUnknown, hasOpening }
  const causeOf = causeFinder(chain, context.sums, located)
  const rows = compared.flatMap(({ wallet, balances }) =>
    balances
      .filter((balance) => all || isDifferent(balance))
      .map((balance) => toRow(balance, wallet.label, isDifferent(balance) ? causeOf(balance) : null)),
  )
  const balances = countKinds(compared)
  return {
    ok: KINDS.every((kind) => balances[kind].different === 0),
    ...{
      block,
      balances,
      rows,
      located,
      wallets: countWallets(output, compared),
      skipped: countSkipped(compared),
    },
    genesisWallets: compared.filter(hasGenesisCoins).length,
  }
}

const hasGenesisCoins = ({ wallet, opening }: ComparedWallet) =>
  wallet.fromBlock === 0 && wallet.opening === undefined && opening !== 0n

const isNative = ({ type }: ComparedBalance) => type === 'native'
const isNativeDifference = (balance: ComparedBalance) => isNative(balance) && isDifferent(balance)

function causeFinder(
  chain: ExportedChain,
  { isWrapper }: LedgerSums,
  located: ReadonlyMap<string, LocatedDifference>,
) {
  return (balance: ComparedBalance): string =>
    isNative(balance)
      ? (located.get(balance.wallet)?.cause ?? unlocatedCoinCause(chain, balance))
      : tokenCause(balance, chain, isWrapper(balance.address))
}

function toRow(balance: ComparedBalance, label: string | null, cause: string | null): ReconciledBalance {
  const { ledger, service } = balance
  return {
    ...balanceColumns(balance, label),
    ledger_value: ledger,
    service_value: service,
    difference: service - ledger,
    likely_cause: cause,
  }
}

function countKinds(compared: readonly ComparedWallet[]): Record<Kind, KindCounts> {
  const counts: Record<Kind, KindCounts> = {
    native: { compared: 0, different: 0 },
    erc20: { compared: 0, different: 0 },
    erc721: { compared: 0, different: 0 },
    erc1155: { compared: 0, different: 0 },
  }
  for (const { balances } of compared)
    for (const balance of balances) {
      const kind = counts[balance.type as Kind]
      kind.compared += 1
      if (isDifferent(balance)) kind.different += 1
    }
  return counts
}

function countWallets(
  { manifest }: OpenExport,
  compared: readonly ComparedWallet[],
): ReconcileVerdict['wallets'] {
  const withCoin = compared.filter(({ balances }) => balances.some(isNative))
  return {
    exported: manifest.coverage.length,
    selected: compared.length,
    compared: withCoin.length,
    nativeReconciled: withCoin.filter(({ balances }) => !balances.some(isNativeDifference)).length,
    reconciled: withCoin.filter(({ balances }) => !balances.some(isDifferent)).length,
  }
}

function countSkipped(compared: readonly ComparedWallet[]): ReconcileVerdict['skipped'] {
  const counts = new Map<string, { kind: Kind; why: Skip; wallets: number }>()
  for (const { skipped } of compared)
    for (const { kind, why } of skipped) {
      const count = counts.get(`${kind}|${why}`) ?? { kind, why, wallets: 0 }
      counts.set(`${kind}|${why}`, { ...count, wallets: count.wallets + 1 })
    }
  return [...counts.values()].sort((a, b) => KINDS.indexOf(a.kind) - KINDS.indexOf(b.kind))
}
