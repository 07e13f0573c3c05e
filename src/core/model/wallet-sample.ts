import type { Coverage } from './manifest.ts'

/** A number of wallets, and the first few addresses in order, for messages. */
export type WalletSample = { readonly count: number; readonly addresses: readonly string[] }

/** A wallet and its label, if it has one. */
type LabelledWallet = { readonly address: string; readonly label?: string | null | undefined }

/** Labels by address, for wallets that have one. */
export function labelsOf(wallets: readonly LabelledWallet[]): Map<string, string> {
  return new Map(wallets.flatMap(({ address, label }) => (label == null ? [] : [[address, label]])))
}

/** Maximum number of addresses in a sample. */
const MAX_SAMPLE = 5

/**
 * Wallets without any transaction, which often means a wrong address or chain. Excludes removed and refused
 * wallets.
 */
export function emptyWalletsIn(coverage: readonly Coverage[]): WalletSample {
  return sampleWallets(coverage.filter(isEmpty))
}

const isEmpty = ({ transactions, removed, error }: Coverage) =>
  transactions === 0 && removed !== true && error === undefined

/** Wallets in the export that are no longer in the job. */
export function removedWalletsIn(coverage: readonly Coverage[]): WalletSample {
  return sampleWallets(coverage.filter(({ removed }) => removed === true))
}

function sampleWallets(covered: readonly Coverage[]): WalletSample {
  return { count: covered.length, addresses: covered.slice(0, MAX_SAMPLE).map(({ address }) => address) }
}
