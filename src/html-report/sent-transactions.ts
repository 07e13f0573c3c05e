import type { ConversionSource } from '../accounting/sources.ts'

/** The transactions that the wallets sent. */
export type SentTransactions = {
  /** undefined if an export has no transactions table. */
  count: number | undefined
  /** Hashes of the failed ones. */
  failed: ReadonlySet<string>
}

export async function readSentTransactions(sources: readonly ConversionSource[]): Promise<SentTransactions> {
  const failed = new Set<string>()
  let count = 0
  for (const { opened } of sources) {
    const wallets = new Set(opened.manifest.coverage.map(({ address }) => address))
    const columns = ['transaction_hash', 'from_address', 'success'] as const
    if (opened.manifest.tables.transactions === undefined) continue
    for await (const rows of opened.stream('transactions', columns))
      for (const { transaction_hash: hash, from_address: sender, success } of rows) {
        if (!wallets.has(sender ?? '')) continue
        count += 1
        if (success === 'false') failed.add(hash)
      }
  }
  const isKnown = sources.every(({ opened }) => opened.manifest.tables.transactions !== undefined)
  return { count: isKnown ? count : undefined, failed }
}
