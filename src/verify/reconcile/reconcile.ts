import { createHash } from 'node:crypto'
import { DEFAULT_API } from '../../core/model/api.ts'
import { ExportError } from '../../core/model/errors.ts'
import type { Coverage, Manifest } from '../../core/model/manifest.ts'
import type { Reconciliation } from '../../core/model/reconciliation.ts'
import { limitConcurrency } from '../../core/platform/limit-concurrency.ts'
import { addAdjustments } from '../../ledger/balances/adjustments.ts'
import { labelsOf, selectWallets } from '../../ledger/balances/balances.ts'
import {
  genesisBalances,
  NO_FINDINGS,
  type OpeningFindings,
  type OpeningOption,
  readOpening,
} from '../../ledger/balances/read-opening.ts'
import { type Dataset, openDataset, requireLedger } from '../../read/dataset.ts'
import { hashBookFiles, hashManifest, readReconciliation } from '../../read/read-reconciliation.ts'
import type { BalanceReader } from '../../sources/balances.ts'
import { sourceOf } from '../../sources/index.ts'
import type { RequestCounts, ServiceAccess } from '../../sources/service-access.ts'
import type { Source } from '../../sources/source.ts'
import { readAccepted } from './accepted.ts'
import { type ComparedWallet, compareWallet } from './compare-wallet.ts'
import {
  type GivenOpening,
  hashSums,
  type LedgerWallet,
  readableCoverage,
  readLedgerSums,
} from './ledger-sums.ts'
import { notComparedError } from './not-compared.ts'
import { predictRequests } from './predict-requests.ts'
import { divideRebasing, type RebaseIncome, type RebasePeriod } from './rebase-income.ts'
import { buildVerdict, type ReconcileVerdict } from './verdict.ts'

export type ReconcileOptions = {
  service: ServiceAccess
  /** Addresses or labels of the wallets to compare. @default all wallets */
  wallets?: readonly string[]
  /** Compare this many of the wallets: always the same ones. @default all */
  sample?: number | undefined
  /**
   * Balances before the first row, as for `balances`. The ledger's sums begin with those of a file instead of with what the
   * service reports before the first exported block. @default the genesis records in the manifest
   */
  opening?: OpeningOption
  /** CSV file of adjustments, as for `balances`, which the ledger's sums contain. @default none */
  adjustments?: string | undefined
  /**
   * CSV file of differences, with the columns of `ReconciledBalance`, that do not count as errors: those of a token whatever
   * they are, those of the native coin only if they equal `difference`, if that is filled in. @default none
   */
  accept?: string | undefined
  /**
   * Do not compare wallets whose ledger sums are those with which an earlier verdict found them to agree.
   * @default false
   */
  onlyChanged?: boolean | undefined
  /** Find the transaction with which a difference of the native coin begins. @default true */
  bisect?: boolean | undefined
  /** Also return balances that agree. @default false */
  all?: boolean | undefined
  /** Divide what rebasing tokens grew by into these periods, for a proposal of adjustments. @default not divided */
  rebaseBy?: RebasePeriod | undefined
  /** Receives the number of requests that the division takes, before the first one. @default none */
  onRebaseStart?: (requests: number) => void
  /** Receives the number of requests that will be sent at least, before the first one. @default none */
  onStart?: (start: { wallets: number; requests: number; lastBlock: number }) => void
  /** Receives one-line progress messages. @default none */
  onProgress?: (message: string) => void
}

export type ReconcileResult = ReconcileVerdict &
  RequestCounts & {
    /** SHA-256 of the manifest that was compared. */
    manifestSha256: string
    /** SHA-256 of the user's files that are part of the compared sums. */
    files: Reconciliation['files']
    opening: OpeningFindings
    /** What rebasing tokens grew by, by wallet and token, in chain order; empty if it was not divided. */
    rebased: readonly RebaseIncome[]
  }

/**
 * Compares the ledger of an export with the balances that the service reports after the last exported block: the native
 * coin, ERC-20, ERC-1155 and, where a wallet has no later transactions, ERC-721. Memory grows with the number of balances,
 * not with the number of rows.
 *
 * @throws ExportError USAGE if the folder has no ledger to compare or no such wallet, or the file of opening balances is invalid, VERIFY_FAILED if its files are
 * damaged, BALANCES_UNAVAILABLE if the service reports no balances, and the errors of failed requests
 */
export async function reconcileOutput(folder: string, options: ReconcileOptions): Promise<ReconcileResult> {
  // Before the export is opened: if it is replaced meanwhile, the verdict must not count for the new one.
  const manifestSha256 = (await hashManifest(folder)) ?? ''
  const output = await openDataset(folder)
  try {
    requireLedger(output.manifest, folder, 'balances are computed from')
    const wallets = chooseWallets(folder, output.manifest, options)
    const opening = await readGivenOpening(output, options.opening)
    await addAdjustments(options.adjustments, { opened: output, labels: labelsOf(output.manifest) })
    const files = await hashBookFiles(options)
    const source = sourceOf(options.service.api ?? DEFAULT_API)
    const { reader, counts, close } = await source.openBalances(options.service, output.manifest.job.chain)
    try {
      const verdict = await reconcile(output, { folder, source, reader, wallets, opening, options })
      const { rebaseBy: period, onRebaseStart: onStart = () => {} } = options
      const { rows, learned } = verdict
      const rebased =
        period === undefined ? [] : await divideRebasing(output, { period, reader, rows, learned, onStart })
      return { ...verdict, ...counts, manifestSha256, files, opening: opening.findings, rebased }
    } finally {
      await close()
    }
  } finally {
    await output.close()
  }
}

/** The selected wallets of which blocks were read. Throws USAGE if there are none: comparing nothing must not pass. */
function chooseWallets(folder: string, manifest: Manifest, options: ReconcileOptions): Coverage[] {
  const selected = selectWallets(manifest, options.wallets)
  const covered = readableCoverage(manifest).filter(({ address }) => selected.has(address))
  if (covered.length === 0)
    throw new ExportError('USAGE', `${folder} covers no blocks of these wallets that could be compared`, {
      fix: 'Run its job again once the chain has reached startBlock and the service accepts the wallets. If they only receive internal payments, which some listings lack, set internals: full in the job and add --fresh.',
    })
  if (options.sample === undefined) return covered
  const rank = ({ address }: Coverage) => createHash('sha256').update(address).digest('hex')
  const ranked = covered.map((wallet) => ({ wallet, rank: rank(wallet) }))
  return ranked
    .sort((a, b) => (a.rank < b.rank ? -1 : 1))
    .slice(0, options.sample)
    .map(({ wallet }) => wallet)
}

/** The opening balances of a file, or those of genesis records; what the service reports is asked for again. */
async function readGivenOpening(
  opened: Dataset,
  option: OpeningOption,
): Promise<GivenOpening & { findings: OpeningFindings }> {
  const { manifest } = opened
  if (typeof option !== 'string') {
    const amounts = option === false ? [] : genesisBalances(manifest)
    return { amounts, wallets: new Set(amounts.map(({ wallet }) => wallet)), findings: NO_FINDINGS }
  }
  const { amounts, findings } = await readOpening(option, { opened, labels: labelsOf(manifest) })
  return { amounts, wallets: selectWallets(manifest, undefined), findings }
}

type ReconcileContext = {
  folder: string
  source: Source
  reader: BalanceReader
  wallets: readonly Coverage[]
  opening: GivenOpening
  options: ReconcileOptions
}

async function reconcile(
  output: Dataset,
  { folder, source, reader, wallets, opening, options }: ReconcileContext,
): Promise<ReconcileVerdict> {
  const { all = false, bisect = true, onProgress = () => {} } = options
  const accepted = await readAccepted(options.accept, output.manifest)
  onProgress('summing the ledger')
  const sums = await readLedgerSums(output, wallets, opening)
  const { reconciled = {} } = (options.onlyChanged && (await readReconciliation(folder))) || {}
  const changed = sums.wallets.filter((wallet) => reconciled[wallet.address] !== hashSums(wallet))
  const lastBlock = wallets.reduce((last, { toBlock }) => Math.max(last, toBlock - 1), 0)
  options.onStart?.({ wallets: changed.length, requests: predictRequests(changed, source), lastBlock })
  const compared = await compareAll(changed, { reader, onProgress })
  if (compared.length > 0 && compared.every(isNotCompared)) {
    const skipped = compared.flatMap((wallet) => wallet.skipped)
    throw reader.refusal() ?? notComparedError('cannot reconcile', skipped)
  }
  return buildVerdict(output, {
    compared,
    sums,
    reader,
    lastBlock,
    all,
    bisect,
    accepted,
    unchanged: sums.wallets.length - changed.length,
    hasOpeningFile: typeof options.opening === 'string',
  })
}

/** Wallets at a time. Most requests of a wallet are sent together, and the client limits those in flight. */
const WALLETS_AT_A_TIME = 64

async function compareAll(
  wallets: readonly LedgerWallet[],
  { reader, onProgress }: { reader: BalanceReader; onProgress: (message: string) => void },
): Promise<ComparedWallet[]> {
  const limit = limitConcurrency(WALLETS_AT_A_TIME)
  let done = 0
  const compare = async (wallet: LedgerWallet) => {
    const compared = await compareWallet(wallet, reader)
    done += 1
    onProgress(`compared ${done} of ${wallets.length} wallets`)
    return compared
  }
  return Promise.all(wallets.map((wallet) => limit(() => compare(wallet))))
}

const isNotCompared = ({ balances }: ComparedWallet) => balances.length === 0
