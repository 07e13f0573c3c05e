import { ADDRESS } from '../../core/model/address.ts'
import { ExportError } from '../../core/model/errors.ts'
import type { Manifest } from '../../core/model/manifest.ts'
import { suggest } from '../../core/model/suggest.ts'

/** The addresses of the wallets with these addresses or labels; all wallets if there are none. Throws USAGE. */
export function selectWallets(
  { coverage }: Pick<Manifest, 'coverage'>,
  names: readonly string[] | undefined,
): ReadonlySet<string> {
  if (names === undefined || names.length === 0) return new Set(coverage.map(({ address }) => address))
  return new Set(names.flatMap((name) => findWallets(coverage, name)))
}

function findWallets(coverage: Manifest['coverage'], name: string): string[] {
  const matches = coverage.filter(({ address, label }) => address === name.toLowerCase() || label === name)
  if (matches.length > 0) return matches.map(({ address }) => address)
  const labels = coverage.flatMap(({ label }) => label ?? [])
  const suggestion = suggest(name, ADDRESS.test(name) ? [] : labels)
  throw new ExportError('USAGE', `the export has no wallet ${name}`, {
    fix:
      suggestion === undefined
        ? 'Give the address or the label of a wallet, as in the job file.'
        : `Did you mean ${suggestion}?`,
  })
}
