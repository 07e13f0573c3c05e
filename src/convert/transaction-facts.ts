import type { OpenedExport } from '../read/open-export.ts'
import type { TextRow } from '../read/rows.ts'
import type { TransactionFacts } from './lines.ts'

const COLUMNS = ['transaction_hash', 'from_address', 'to_address', 'value', 'success'] as const

/**
 * Reads the table of transactions beside the ledger, whose order it shares: `of` goes on to a transaction, and is asked for
 * each at most once, in order. Closes the export in the end.
 */
export function openFacts(opened: OpenedExport) {
  const rows = rowsOf(opened)
  return {
    async of(transaction: string): Promise<TransactionFacts | undefined> {
      for (;;) {
        const { value: row, done } = await rows.next()
        if (done) return undefined
        const [hash, sender, receiver, value, success] = row
        if (hash !== transaction) continue
        return {
          sender: sender ?? null,
          receiver: receiver ?? null,
          value: BigInt(value ?? '0'),
          isFailed: success === 'false',
        }
      }
    },
    close: async () => {
      await rows.return(undefined)
      await opened.close()
    },
  }
}

async function* rowsOf(opened: OpenedExport): AsyncGenerator<TextRow, undefined, void> {
  for await (const rows of opened.stream('transactions', COLUMNS)) yield* rows
  return undefined
}
