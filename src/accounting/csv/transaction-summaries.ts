import type { TextRows } from '../../core/table/index.ts'
import type { Dataset } from '../../read/dataset.ts'
import type { TransactionSummary } from '../import-rows.ts'

const COLUMNS = ['transaction_hash', 'from_address', 'to_address', 'value', 'success'] as const
type TransactionRow = Pick<TextRows['transactions'], (typeof COLUMNS)[number]>

/**
 * Reads the transactions table in parallel with the ledger, which has the same order. `find` skips forward to a
 * transaction, so call it at most once per transaction and in chain order. `close` also closes the export.
 */
export function openTransactionSummaries(opened: Dataset) {
  const batches = opened.stream('transactions', COLUMNS)
  let [rows, at]: [readonly TransactionRow[], number] = [[], 0]
  return {
    async find(transaction: string): Promise<TransactionSummary | undefined> {
      for (;;) {
        while (at < rows.length) {
          const row = rows[at++]
          if (row?.transaction_hash === transaction) return summaryOf(row)
        }
        const { value, done } = await batches.next()
        if (done) return undefined
        ;[rows, at] = [value, 0]
      }
    },
    close: async () => {
      await batches.return()
      await opened.close()
    },
  }
}

function summaryOf({ from_address, to_address, value, success }: TransactionRow): TransactionSummary {
  return {
    sender: from_address,
    receiver: to_address,
    value: BigInt(value ?? '0'),
    isFailed: success === 'false',
  }
}
