import type { Reconciliation } from '../core/model/reconciliation.ts'
import { formatCount, formatInteger, formatMinute, presentLines } from './format.ts'

/** What the lines state about a verdict. */
type Verdict = Pick<Reconciliation, 'block' | 'balances'> & {
  wallets: Pick<Reconciliation['wallets'], 'exported' | 'selected' | 'nativeReconciled' | 'unchanged'>
}

/**
 * One line about a verdict, such as `53 of 53 wallets reconciled at block 45,396,106`. The native coin decides, because no
 * wallet has a reason to differ in it; `tokenDifferencesLine` names the differences of tokens.
 */
export function reconciliationHeadline(verdict: Verdict): string {
  const coinOnly = tokenDifferencesLine(verdict) === undefined ? '' : ' in the native coin'
  return `${walletsText(verdict)} reconciled at block ${formatInteger(verdict.block)}${coinOnly}`
}

/** The number of token balances that differ; undefined if there are none. */
export function tokenDifferencesLine({ balances: { erc20, erc721, erc1155 } }: Verdict): string | undefined {
  const tokens = erc20.different + erc721.different + erc1155.different
  if (tokens === 0) return undefined
  return `${formatCount(tokens, 'token balance')} ${tokens === 1 ? 'differs' : 'differ'}`
}

/** Wallets whose balances the service refuses count as not reconciled. */
const walletsText = ({ wallets: { selected, nativeReconciled } }: Verdict) =>
  `${formatInteger(nativeReconciled)} of ${formatCount(selected, 'wallet')}`

/** States that wallets of the export were not selected: a sample, or some that were not read. Undefined if all were. */
export function selectionLine({ wallets: { exported, selected } }: Pick<Verdict, 'wallets'>) {
  if (selected === exported) return undefined
  return `selected ${formatInteger(selected)} of the ${formatCount(exported, 'wallet')} of the export`
}

/** What a verdict does not claim by itself: differences that the user accepts, and wallets that were not compared again. */
export function acceptedAndUnchangedLines({
  balances,
  wallets,
}: Pick<Verdict, 'balances' | 'wallets'>): string[] {
  const accepted = Object.values(balances).reduce((sum, kind) => sum + kind.accepted, 0)
  return presentLines(
    accepted > 0 && `${formatCount(accepted, 'difference')} accepted by the user`,
    wallets.unchanged > 0 &&
      `${formatCount(wallets.unchanged, 'wallet')} unchanged since an earlier comparison`,
  )
}

const NOT_RECONCILED = 'not reconciled with the balances of the service (`walletlake reconcile`)'

/** What a reader of a stored verdict has to know in addition to the number of wallets. */
const reconciliationRemarks = (verdict: Verdict & { isCurrent: boolean; hasSameFiles: boolean }): string[] =>
  presentLines(
    tokenDifferencesLine(verdict),
    selectionLine(verdict),
    acceptedAndUnchangedLines(verdict),
    !verdict.isCurrent && 'out of date: a later run changed the export',
    !verdict.hasSameFiles && 'compared with other opening balances or adjustments',
  )

/** Lines about the stored verdict of an output, of at most 80 columns. */
export function storedReconciliationLines(
  verdict: (Verdict & { time: string; isCurrent: boolean; hasSameFiles: boolean }) | null | undefined,
): string[] {
  if (verdict == null) return [NOT_RECONCILED]
  const { block, time } = verdict
  const place = `at block ${formatInteger(block)} on ${formatMinute(Date.parse(time))}`
  const coinOnly = tokenDifferencesLine(verdict) === undefined ? '' : 'in the native coin; '
  return [
    `reconciled ${place}: ${walletsText(verdict)}`,
    ...reconciliationRemarks(verdict).map((remark, at) => `  ${at === 0 ? coinOnly : ''}${remark}`),
  ]
}
