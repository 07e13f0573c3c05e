import type { NamedWallets } from '../core/model/wallet-sample.ts'
import { counted, grouped } from './format.ts'

/** Labels by address, of wallets that have one. */
type Labels = ReadonlyMap<string, string>

/** Names wallets that showed no transaction at all; nothing where all showed some. */
export function emptyWalletLines(empty: NamedWallets | undefined, labels: Labels): string[] {
  if (empty === undefined || empty.count === 0) return []
  const what = `${counted(empty.count, 'wallet')} showed no transaction: another chain, or a wrong address?`
  return [`  ${what}`, ...namedLines(empty, { labels, where: '"transactions": 0' })]
}

/** Names wallets that left the job; nothing where none did. */
export function removedWalletLines(removed: NamedWallets, labels: Labels): string[] {
  if (removed.count === 0) return []
  const what = `${counted(removed.count, 'wallet')} left the job; what was exported of them stays`
  return [`  ${what}`, ...namedLines(removed, { labels, where: '"removed": true' })]
}

type Naming = { labels: Labels; where: string }

function namedLines({ count, addresses }: NamedWallets, { labels, where }: Naming): string[] {
  const more = count - addresses.length
  return [
    ...addresses.map((address) => `    ${address}  ${labels.get(address) ?? ''}`.trimEnd()),
    ...(more > 0 ? [`    and ${grouped(more)} more, in manifest.json with ${where}`] : []),
  ]
}
