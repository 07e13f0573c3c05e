import { expect, test } from 'vitest'
import type { TableName } from '../../src/core/table/index.ts'
import { rows } from '../../src/export/rows.ts'
import { run } from '../../src/export/run.ts'
import { headJob } from '../helpers/growing-chain.ts'
import { readCsvTable, type TextRow } from '../helpers/read-output.ts'
import {
  addressOf,
  payment,
  startSyntheticChain,
  syntheticInternal,
  syntheticItem,
} from '../helpers/synthetic-chain.ts'

const [ALICE, BOB] = [addressOf('one'), addressOf('two')].sort() as [string, string]

const later = Array.from({ length: 5 }, (_, at) => payment(100 + 50 * at, ALICE, BOB))

/**
 * A service that lists `before` for the first wallet until the second wallet is requested, and `after` from then
 * on.
 */
async function startChanging(
  before: ReturnType<typeof syntheticItem>,
  after: ReturnType<typeof syntheticItem>,
) {
  const chain = await startSyntheticChain([before, ...later])
  let isChanged = false
  chain.listing.items = (wallet) => {
    isChanged ||= wallet === BOB
    const current = wallet === ALICE && !isChanged ? before : after
    return [current, ...later]
  }
  return headJob(chain.url, { addresses: [ALICE, BOB], concurrency: 1 })
}

const call = (value: string, gasUsed = '100') => ({
  internalTransactions: [syntheticInternal(BOB, ALICE, { value, gasUsed })],
})

for (const { what, table, before, after } of [
  {
    what: 'moves to a later block',
    table: 'ledger',
    before: payment(1, ALICE, BOB),
    after: payment(1, ALICE, BOB, { block: 1050 }),
  },
  {
    what: 'moves to an earlier block',
    table: 'transactions',
    before: payment(1, ALICE, BOB, { block: 1050 }),
    after: payment(1, ALICE, BOB),
  },
  {
    what: 'gets another internal call',
    table: 'ledger',
    before: syntheticItem(1, {}, call('7')),
    after: syntheticItem(1, {}, call('8')),
  },
  {
    what: 'gets another gas value of an internal call',
    table: 'internal_transactions',
    before: syntheticItem(1, {}, call('7', '1')),
    after: syntheticItem(1, {}, call('7', '2')),
  },
] as const)
  test(`if a transaction ${what} between two listings, rows() yields what an export has`, async () => {
    const job = await startChanging(before, after)
    const yielded: TextRow[] = []
    for await (const { transaction_hash, block_number } of rows<TableName>(job, table))
      yielded.push({ transaction_hash, block_number: String(block_number) })
    const { code } = await run([job])
    expect(code).toBeUndefined()
    const exported = await readCsvTable(job.output, table)
    expect(yielded).toEqual(
      exported.map(({ transaction_hash, block_number }) => ({ transaction_hash, block_number })),
    )
  })
