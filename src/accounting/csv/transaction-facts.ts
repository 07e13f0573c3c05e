import type { OpenExport } from '../../read/open-export.ts'
import type { TextRow } from '../../read/scratch-database.ts'
import type { TransactionFacts } from '../import-rows.ts'

const COLUMNS = ['transaction_hash', 'from_address', 'to_address', 'value', 'success'] as const

/**
 * Reads the transactions table in parallel with the ledger, which has the same order. `find` skips forward to a
 * transaction, so call it at most once per transaction and in chain order. `close` also closes the export.
 */
export function openTransactionFacts(opened: OpenExport) {
  const batches = opened.stream('transactions', COLUMNS)
  let [rows, at]: [readonly TextRow[], number] = [[], 0]
  return {
    async find(transaction: string): Promise<TransactionFacts | undefined> {
      for (;;) {
        while (at < rows.length) {
          const row = rows[at++]
          if (row?.[0] === transaction) return factsOf(row)
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

function factsOf([, sender, receiver, value, success]: TextRow): TransactionFacts {
  return {
    sender: sender ?? null,
    receiver: receiver ?? null,
    value: BigInt(value ?? '0'),
    isFailed: success === 'false',
  }
}
