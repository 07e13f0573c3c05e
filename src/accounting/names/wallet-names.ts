import type { Coverage } from '../../core/model/manifest.ts'
import type { Preset } from '../csv/preset.ts'
import { safeText } from './asset-name.ts'

/** The name of a wallet with a label: sanitized, and without the characters that the program does not accept. */
export const walletText = (label: string | null | undefined, { excludedFromWallets }: WalletRules): string =>
  safeText(excludedFromWallets === undefined ? (label ?? '') : (label ?? '').replace(excludedFromWallets, ''))

type WalletRules = Pick<Preset, 'excludedFromWallets'>

/**
 * Returns the names of wallets by address: the label, followed by the address if the label equals another wallet's
 * label or address (ignoring case). Wallets without a label are absent; programs show their address.
 */
export function walletNames(
  coverage: readonly Pick<Coverage, 'address' | 'label'>[],
  rules: WalletRules,
): ReadonlyMap<string, string> {
  const names = coverage.flatMap(({ address, label }) => {
    const name = walletText(label, rules)
    return name === '' || name.toLowerCase() === address ? [] : [[address, name] as const]
  })
  const counts = new Map(coverage.map(({ address }) => [address, 1]))
  for (const [, name] of names) counts.set(name.toLowerCase(), (counts.get(name.toLowerCase()) ?? 0) + 1)
  const isShared = (name: string) => (counts.get(name.toLowerCase()) ?? 0) > 1
  return new Map(names.map(([address, name]) => [address, isShared(name) ? `${name} ${address}` : name]))
}
