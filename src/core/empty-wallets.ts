import type { Coverage } from './manifest.ts'

/** Wallets of a job that showed no transaction at all; most often a wrong address or another chain. */
export type EmptyWallets = {
  count: number
  /** The first of them, in order. */
  addresses: readonly string[]
}

/** Of wallets without a transaction, so many are named; the others are counted. */
const NAMED = 5

/** Those of an export, without wallets that left the job. */
export function emptyWalletsIn(coverage: readonly Coverage[]): EmptyWallets {
  const empty = coverage.filter(({ transactions, removed }) => transactions === 0 && removed !== true)
  return { count: empty.length, addresses: empty.slice(0, NAMED).map(({ address }) => address) }
}
