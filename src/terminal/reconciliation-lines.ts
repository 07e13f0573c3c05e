import type { Reconciliation } from '../core/model/reconciliation.ts'
import { formatCount, formatInteger, formatMinute } from './format.ts'

/** What the headline states about a verdict. */
type Headline = Pick<Reconciliation, 'block' | 'balances'> & {
  wallets: Pick<Reconciliation['wallets'], 'compared' | 'nativeReconciled'>
}

/**
 * One line about a verdict, such as `53 of 53 wallets reconciled at block 45,396,106`. The native coin decides, because no
 * wallet has a reason to differ in it; differences of tokens follow.
 */
export function reconciliationHeadline({ block, balances, wallets }: Headline): string {
  const { compared, nativeReconciled } = wallets
  const { erc20, erc721, erc1155 } = balances
  const tokens = erc20.different + erc721.different + erc1155.different
  const coinOnly = tokens > 0 ? ' (native coin)' : ''
  const reconciled = `${formatInteger(nativeReconciled)} of ${formatCount(compared, 'wallet')} reconciled${coinOnly} at block ${formatInteger(block)}`
  return tokens > 0 ? `${reconciled}; ${differs(tokens)}` : reconciled
}

const differs = (tokens: number) =>
  `${formatCount(tokens, 'token balance')} ${tokens === 1 ? 'differs' : 'differ'}`

/** One line about the stored verdict of an output. */
export function storedReconciliationLine(
  verdict: (Headline & { time: string; isCurrent: boolean }) | null | undefined,
): string {
  if (verdict == null) return 'not reconciled: `walletlake reconcile` compares it with balances of the API'
  const line = `${reconciliationHeadline(verdict)}, on ${formatMinute(Date.parse(verdict.time))}`
  return verdict.isCurrent
    ? line
    : `changed since it was reconciled (${line}): run \`walletlake reconcile\` again`
}
