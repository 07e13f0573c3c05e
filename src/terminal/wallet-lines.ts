import type { WalletSample } from '../core/model/wallet-sample.ts'
import { formatCount, formatInteger } from './format.ts'

/** Labels by address, of wallets that have one. */
type Labels = ReadonlyMap<string, string>

/** Names wallets that showed no transaction at all; nothing where all showed some. */
export function emptyWalletLines(empty: WalletSample | undefined, labels: Labels): string[] {
  if (empty === undefined || empty.count === 0) return []
  const message = `${formatCount(empty.count, 'wallet')} showed no transaction: another chain, or a wrong address?`
  return [`  ${message}`, ...namedLines(empty, { labels, manifestField: '"transactions": 0' })]
}

/** Names wallets that left the job; nothing where none did. */
export function removedWalletLines(removed: WalletSample, labels: Labels): string[] {
  if (removed.count === 0) return []
  const message = `${formatCount(removed.count, 'wallet')} left the job; what was exported of them stays`
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
