import type { Wallet } from '../../core/model/model.ts'
import type { ReportDiagnostic } from '../diagnostics.ts'
import { formatLocation, quoted, type SourceLocation } from '../resolve/raw-value.ts'

/** The wallets so far by lower-case address, each with its location. */
export type WalletSet = Map<string, { readonly wallet: Wallet; readonly location: SourceLocation }>

export type WalletEntry = {
  readonly field: string
  readonly location: SourceLocation
  /** 0x and 40 hex digits, in any letter case. */
  readonly address: string
  readonly label: string | null
}

/** Adds a wallet. Reports an address that is already in the set, compared case-insensitively. */
export function addWallet(wallets: WalletSet, entry: WalletEntry, report: ReportDiagnostic): void {
  const address = entry.address.toLowerCase()
  const existing = wallets.get(address)
  if (existing === undefined) {
    wallets.set(address, { wallet: { address, label: entry.label }, location: entry.location })
    return
  }
  const expected = `each address once (first at ${formatLocation(existing.location)})`
  report({ location: entry.location, field: entry.field, found: `${quoted(entry.address)} again`, expected })
}

/** Returns the wallets sorted by address, so that the order of the list does not affect the export. */
export function sortedWallets(wallets: WalletSet): readonly Wallet[] {
  return [...wallets.values()]
    .map(({ wallet }) => wallet)
    .sort((a, b) => (a.address < b.address ? -1 : a.address > b.address ? 1 : 0))
}

export const MAX_LABEL_CHARACTERS = 256
