import { ExportError } from '../core/model/errors.ts'

/** An export and its wallets. */
type ExportedWallets = { output: string; chain: string; wallets: readonly { address: string }[] }

/**
 * Throws USAGE if a wallet is in another export of the same chain: its movements would be counted twice. `fix` says how to
 * leave it out.
 */
export function requireNewWallets(
  { output, chain, wallets }: ExportedWallets,
  others: readonly ExportedWallets[],
  fix: string,
): void {
  for (const other of others.filter((one) => one.chain === chain)) {
    const addresses = new Set(other.wallets.map(({ address }) => address))
    const repeated = wallets.find(({ address }) => addresses.has(address))
    if (repeated !== undefined)
      throw new ExportError(
        'USAGE',
        `${output} and ${other.output} both contain wallet ${repeated.address} on chain ${chain}`,
        { fix: `Name each wallet of a chain once: ${fix}.` },
      )
  }
}
