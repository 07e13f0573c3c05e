import type { WalletSample } from '../core/model/wallet-sample.ts'
import { formatCount, formatInteger } from './format.ts'

/** Labels by address, for wallets that have one. */
type Labels = ReadonlyMap<string, string>

/** Lists wallets without transactions; empty if there are none. */
export function emptyWalletLines(empty: WalletSample | undefined, labels: Labels): string[] {
  if (empty === undefined || empty.count === 0) return []
  const message = `${formatCount(empty.count, 'wallet')} without transactions: wrong chain or wrong address?`
  return [`  ${message}`, ...namedLines(empty, { labels, manifestField: '"transactions": 0' })]
}

/** Lists wallets that are no longer in the job; empty if there are none. */
export function removedWalletLines(removed: WalletSample, labels: Labels): string[] {
  if (removed.count === 0) return []
  const message = `${formatCount(removed.count, 'wallet')} no longer in the job: exported rows are retained`
  return [`  ${message}`, ...namedLines(removed, { labels, manifestField: '"removed": true' })]
}

type NamedLinesOptions = { labels: Labels; manifestField: string }

function namedLines(
  { count, addresses }: WalletSample,
  { labels, manifestField }: NamedLinesOptions,
): string[] {
  const remaining = count - addresses.length
  return [
    ...addresses.map((address) => `    ${address}  ${labels.get(address) ?? ''}`.trimEnd()),
    ...(remaining > 0
      ? [`    and ${formatInteger(remaining)} more, in manifest.json with ${manifestField}`]
      : []),
  ]
}
