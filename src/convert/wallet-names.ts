import type { Coverage } from '../core/manifest.ts'
import { safeText } from './asset-name.ts'

/** What programs call the wallets of an export, by address: by their label, and where two would have one, by the address too. */
export function walletNames(
  coverage: readonly Pick<Coverage, 'address' | 'label'>[],
): ReadonlyMap<string, string> {
  const names = coverage.flatMap(({ address, label }) => {
    const name = safeText(label ?? '')
    return name === '' ? [] : [[address, name] as const]
  })
  const counts = new Map<string, number>()
  for (const [, name] of names) counts.set(name.toLowerCase(), (counts.get(name.toLowerCase()) ?? 0) + 1)
  const isShared = (name: string) => (counts.get(name.toLowerCase()) ?? 0) > 1
  return new Map(names.map(([address, name]) => [address, isShared(name) ? `${name} ${address}` : name]))
}
