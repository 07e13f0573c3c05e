import { balanceColumns } from '../../ledger/balances/balance-sums.ts'
import type { Dataset } from '../../read/dataset.ts'
import { type BalanceReader, KINDS, type Kind } from '../../sources/balances.ts'
import type { Accepted } from './accepted.ts'
import { type ComparedBalance, type ComparedWallet, isDifferent, type Skip } from './compare-wallet.ts'
import { hashSums, type LedgerSums } from './ledger-sums.ts'
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

/** Balances of a kind of asset; `accepted` are those of `different` that the user accepts. */
type KindCounts = { compared: number; different: number; accepted: number }

export type ReconcileVerdict = {
  /** True if all compared balances agree, or the user accepts their differences. */
  ok: boolean
  /** The last block of the export. Wallets that were read to an earlier block are compared there. */
  block: number
  /**
   * Wallets of the export; those that were selected; those whose native coin was compared; of these, those whose native
   * coin agrees, and those of which every compared balance agrees. `unchanged` wallets agreed in an earlier verdict and were not
   * compared again; the other numbers include them.
   */
  wallets: {
    exported: number
    selected: number
    compared: number
    nativeReconciled: number
    reconciled: number
    unchanged: number
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
  /** What was learned about the compared wallets, for later commands. */
  learned: readonly LearnedWallet[]
}

/** What a comparison shows about a wallet apart from its differences. */
export type LearnedWallet = {
  address: string
  fromBlock: number
  /** The hash of its ledger sums if every compared balance agrees; undefined otherwise. */
  reconciledSums: string | undefined
  /** What it had before `fromBlock`, by kind; kinds that the service did not state are absent. */
  opening: ComparedWallet['learned']
}

export type VerdictContext = {
  compared: readonly ComparedWallet[]
  sums: LedgerSums
  reader: BalanceReader
  lastBlock: number
  all: boolean
  bisect: boolean
  accepted: Accepted
  /** Number of selected wallets that were not compared, because they have not changed. */
  unchanged: number
  /** Whether the user gave a file of opening balances. */
  hasOpeningFile: boolean
}

/** Counts the differences, and finds their likely causes. */
export async function buildVerdict(output: Dataset, context: VerdictContext): Promise<ReconcileVerdict> {
  const { compared, reader, lastBlock: block, all, bisect, accepted, hasOpeningFile: hasOpening } = context
  const isUnaccepted = (balance: ComparedBalance) => isDifferent(balance) && accepted(balance) === undefined
  const differing = compared.flatMap((wallet): CoinDifference[] =>
    wallet.balances
      .filter((balance) => isNative(balance) && isUnaccepted(balance))
      .map((coin) => ({ ...wallet, coin })),
  )
  const located = bisect ? await locateDifferences(output, differing, reader) : new Map()
  const isGenesisUnknown = reader.latestOnly.has('native')
  const chain = { ...exportedChainOf(output), isGenesisUnknown, hasOpening }
  const likelyCauseOf = causeFinder(chain, context.sums, located)
  const causeOf = (balance: ComparedBalance) => {
    const line = accepted(balance)
    return line === undefined ? likelyCauseOf(balance) : `accepted in line ${line} of the file of --accept`
  }
  const rows = compared.flatMap(({ wallet, balances }) =>
    balances
      .filter((balance) => all || isDifferent(balance))
      .map((balance) => toRow(balance, wallet.label, isDifferent(balance) ? causeOf(balance) : null)),
  )
  const balances = countKinds(compared, isUnaccepted)
  return {
    ok: KINDS.every((kind) => balances[kind].different === balances[kind].accepted),
    block,
    balances,
    rows,
    located,
    wallets: countWallets(output, compared, context.unchanged),
    skipped: countSkipped(compared),
    genesisWallets: hasOpening ? 0 : compared.filter(hasGenesisCoins).length,
    learned: compared.map(({ wallet, balances, skipped, learned: opening }) => ({
      address: wallet.address,
      fromBlock: wallet.fromBlock,
      opening,
      reconciledSums: balances.some(isDifferent) || skipped.some(isTemporary) ? undefined : hashSums(wallet),
    })),
  }
}

const hasGenesisCoins = ({ wallet, opening }: ComparedWallet) => wallet.fromBlock === 0 && opening !== 0n

/** Whether a later comparison may include the kind of asset, although the wallet does not change; or the coin is missing. */
const isTemporary = ({ kind, why }: ComparedWallet['skipped'][number]) =>
  kind === 'native' || why === 'later-transactions'

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

function countKinds(
  compared: readonly ComparedWallet[],
  isUnaccepted: (balance: ComparedBalance) => boolean,
): Record<Kind, KindCounts> {
  const none = () => ({ compared: 0, different: 0, accepted: 0 })
  const counts: Record<Kind, KindCounts> = { native: none(), erc20: none(), erc721: none(), erc1155: none() }
  for (const { balances } of compared)
    for (const balance of balances) {
      const kind = counts[balance.type as Kind]
      kind.compared += 1
      if (!isDifferent(balance)) continue
      kind.different += 1
      if (!isUnaccepted(balance)) kind.accepted += 1
    }
  return counts
}

function countWallets(
  { manifest }: Dataset,
  compared: readonly ComparedWallet[],
  unchanged: number,
): ReconcileVerdict['wallets'] {
  const withCoin = compared.filter(({ balances }) => balances.some(isNative))
  return {
    exported: manifest.coverage.length,
    selected: compared.length + unchanged,
    compared: withCoin.length + unchanged,
    nativeReconciled:
      withCoin.filter(({ balances }) => !balances.some(isNativeDifference)).length + unchanged,
    reconciled: withCoin.filter(({ balances }) => !balances.some(isDifferent)).length + unchanged,
    unchanged,
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
