import type { Coverage } from './manifest.ts'

/** Wallets of which something is worth a word: all of them counted, the first few named, in order. */
export type WalletSample = { readonly count: number; readonly addresses: readonly string[] }

/** A wallet, and what it is called if it has a name. */
type LabelledWallet = { readonly address: string; readonly label?: string | null | undefined }

/** Labels by address, of wallets that have one. */
export function labelsOf(wallets: readonly LabelledWallet[]): Map<string, string> {
  return new Map(wallets.flatMap(({ address, label }) => (label == null ? [] : [[address, label]])))
}

/** So many are named. */
const MAX_SAMPLE = 5

/** Wallets that showed no transaction at all, most often for a wrong address or chain; without such as left the job. */
export function emptyWalletsIn(coverage: readonly Coverage[]): WalletSample {
  return sampleWallets(coverage.filter(isEmpty))
}

const isEmpty = ({ transactions, removed, error }: Coverage) =>
  transactions === 0 && removed !== true && error === undefined

/** Wallets that are not in the job any more, but in its export. */
export function removedWalletsIn(coverage: readonly Coverage[]): WalletSample {
  return sampleWallets(coverage.filter(({ removed }) => removed === true))
}

function sampleWallets(covered: readonly Coverage[]): WalletSample {
  return { count: covered.length, addresses: covered.slice(0, MAX_SAMPLE).map(({ address }) => address) }
}
