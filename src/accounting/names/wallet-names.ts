import type { Coverage } from '../../core/model/manifest.ts'
import { safeText } from './asset-name.ts'

/**
 * What programs call the wallets of an export, by address: by their label, and where another wallet has that label or address, by
 * the address too. A wallet without a label is called by its address.
 */
export function walletNames(
  coverage: readonly Pick<Coverage, 'address' | 'label'>[],
): ReadonlyMap<string, string> {
  const names = coverage.flatMap(({ address, label }) => {
    const name = safeText(label ?? '')
    return name === '' || name.toLowerCase() === address ? [] : [[address, name] as const]
  })
  const counts = new Map(coverage.map(({ address }) => [address, 1]))
  for (const [, name] of names) counts.set(name.toLowerCase(), (counts.get(name.toLowerCase()) ?? 0) + 1)
  const isShared = (name: string) => (counts.get(name.toLowerCase()) ?? 0) > 1
  return new Map(names.map(([address, name]) => [address, isShared(name) ? `${name} ${address}` : name]))
}
