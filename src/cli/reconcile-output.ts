import { ExportError } from '../core/model/errors.ts'
import { RECONCILIATION_FILE } from '../core/model/manifest.ts'
import { uploadSidecar } from '../storage/upload-sidecar.ts'
import { formatCount, formatInteger, presentLines } from '../terminal/format.ts'
import type { Log } from '../terminal/log.ts'
import {
  acceptedAndUnchangedLines,
  reconciliationHeadline,
  selectionLine,
  tokenDifferencesLine,
} from '../terminal/reconciliation-lines.ts'
import type { Skip } from '../verify/reconcile/compare-wallet.ts'
import { notComparedError } from '../verify/reconcile/not-compared.ts'
import {
  type ReconcileOptions,
  type ReconcileResult,
  reconcileOutput,
} from '../verify/reconcile/reconcile.ts'
import { storeVerdict } from '../verify/reconcile/store-verdict.ts'
import { option } from './command.ts'
import { throttledProgress } from './options/log.ts'
import type { LocatedOutput } from './options/output-argument.ts'

/** The option `--accept` of all commands that reconcile. */
export const acceptOption = option(
  'accept <file>',
  'CSV file of differences that are no error, as `reconcile --format csv` writes it: of tokens with any amount, of the native coin with the same one',
)

/** Reconciles an output, logs the expected number of requests first, and stores the verdict next to the export. */
export async function reconcileAndStore(
  { output, store, name }: Omit<LocatedOutput, 'job'>,
  options: Omit<ReconcileOptions, 'onStart' | 'onProgress'>,
  log: Log,
): Promise<ReconcileResult> {
  const result = await reconcileOutput(output, {
    ...options,
    onStart: ({ wallets, requests, lastBlock }) =>
      log.info(
        `comparing ${formatCount(wallets, 'wallet')} at block ${formatInteger(lastBlock)}: at least ${formatCount(requests, 'request')}`,
      ),
    onProgress: throttledProgress(log),
  })
  try {
    await storeVerdict(output, result)
    await uploadSidecar({ output, store }, RECONCILIATION_FILE)
  } catch (error) {
    // The verdict itself stands, also for an export that this user may only read.
    if (!(error instanceof ExportError)) throw error
    log.warn(`the verdict is not stored in ${name}: ${error.message}`)
  }
  return result
}

/** The verdict as lines of at most 80 columns: the headline, and what was not compared. */
export function verdictLines(result: ReconcileResult): string[] {
  const { genesisWallets, skipped, requests } = result
  const details = presentLines(
    tokenDifferencesLine(result),
    selectionLine(result),
    acceptedAndUnchangedLines(result),
    genesisWallets > 0 &&
      `${formatCount(genesisWallets, 'wallet')} held coins at genesis: taken as opening balances`,
    skipped.map(
      ({ kind, why, wallets: count }) =>
        `${kind} of ${formatCount(count, 'wallet')} not compared: ${SKIP_REASONS[why]}`,
    ),
  )
  return [
    `${reconciliationHeadline(result)} (${formatCount(requests, 'request')})`,
    ...details.map((line) => `  ${line}`),
  ]
}

const SKIP_REASONS: Readonly<Record<Skip, string>> = {
  'not-offered': 'the service lacks or refuses them',
  'later-transactions': 'they may have changed since',
  'no-opening': 'the export begins after block 0',
}

/** Where the user finds the likely causes of differences. */
const CAUSES_FIX =
  'Check the likely causes that `walletlake reconcile` lists; `walletlake verify` checks the files themselves.'

/**
 * The error of a verdict that is not good: VERIFY_FAILED for differences, BALANCES_UNAVAILABLE for unknown balances. `fix` says
 * what to do about differences.
 */
export function verdictError(
  { ok, balances, wallets, skipped }: ReconcileResult,
  name: string,
  fix = CAUSES_FIX,
): ExportError | undefined {
  if (!ok) {
    const different = Object.values(balances).reduce((sum, kind) => sum + kind.different - kind.accepted, 0)
    const message = `${name}: ${formatCount(different, 'balance')} not as the service states`
    return new ExportError('VERIFY_FAILED', message, { fix })
  }
  const unknown = wallets.selected - wallets.compared
  if (unknown === 0) return undefined
  return notComparedError(`${name}: ${formatCount(unknown, 'wallet')} not compared`, skipped)
}
