import type { OpenedExport } from '../read/open-export.ts'
import type { ContractNames } from './contract-names.ts'
import { MOVEMENT_COLUMNS, type Movement, movementOf } from './movement.ts'
import type { Period } from './period.ts'

/** The movements of each transaction that counts, in the order of the chain. */
export async function* transactionsOf(
  opened: OpenedExport,
  { period: { from, to }, names }: { period: Period; names: ContractNames },
): AsyncGenerator<Movement[], void, void> {
  let transaction: Movement[] = []
  for await (const rows of opened.stream('ledger', MOVEMENT_COLUMNS)) {
    for (const row of rows) {
      const movement = movementOf(row, names)
      if (movement.time < from || movement.time >= to) continue
      if (transaction.length > 0 && transaction[0]?.transaction !== movement.transaction) {
        yield transaction
        transaction = []
      }
      transaction.push(movement)
    }
  }
  if (transaction.length > 0) yield transaction
}
