import type { FeeSource } from './fees.ts'
import type { OpenFee } from './staged/page-index.ts'

export type OpenFees = Iterable<OpenFee> | AsyncIterable<OpenFee>

/** Finds out which prices were paid for transactions that wallets of the job sent. */
export type FeeResolver = {
  /** What is known at the moment. */
  current(): FeeSource
  /** Called with transactions of pages that were staged while the prices were undecided. */
  offer(transaction: OpenFee): void
  /**
   * Resolves once everything is known that these transactions need.
   *
   * @param transactions iterates over the transactions of all pages whose prices were not known when the pages
   *   were staged; one may occur several times
   */
  resolve(transactions: () => OpenFees): Promise<FeeSource>
  /** Waits for requests in the background. */
  close(): Promise<void>
}
