import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { run } from '../../src/export/run.ts'
import { expectValid } from '../helpers/expect-valid.ts'
import { headJob } from '../helpers/growing-chain.ts'
import { readCsvTable } from '../helpers/read-output.ts'
import { addressOf, hashOf, payment, startSyntheticChain } from '../helpers/synthetic-chain.ts'

const [ALICE, BOB] = [addressOf('one'), addressOf('two')]

test('reads the whole history again if needed, although the service lists future transactions', async () => {
  const stay = [1, 2, 3].map((number) => payment(number, ALICE, BOB))
  const chain = await startSyntheticChain([...stay, payment(4, ALICE, BOB)])
  const job = headJob(chain.url, { addresses: [ALICE] })
  await run([job])
  rmSync(join(job.output, '.walletlake'), { recursive: true })
  const future = payment(90, ALICE, BOB, { blockTimestamp: Date.UTC(2100, 0) / 1000 })
  chain.listing.items = () => [...stay, payment(4, ALICE, BOB, { block: 1010 }), future]
  expect((await run([job])).code).toBe('CLOCK_BEHIND')
  const rows = await readCsvTable(job.output, 'transactions')
  expect(rows.map(({ block_number }) => block_number)).toEqual(['1001', '1002', '1003', '1010'])
  await expectValid(job.output)
})

test('the next run replaces what a reorg during a run has made stale', async () => {
  const second = { blockTimestamp: 1_700_000_000 }
  const pay = (number: number, native = {}) =>
    payment(number, ALICE, BOB, { block: 1000 + Math.ceil(number / 5), ...second, ...native })
  const stay = Array.from({ length: 149 }, (_, at) => pay(at + 1, { blockIndex: at % 5 }))
  const moved = (block: number) => pay(150, { block, blockIndex: 9 })
  const chain = await startSyntheticChain([...stay, moved(1030)])
  const job = headJob(chain.url, { addresses: [ALICE] })
  await run([job])
  const before = chain.received.length
  const replaced = [...stay, moved(1008), pay(151, { block: 1030, blockIndex: 10 })]
  // The reorg happens after the first page of the next run.
  chain.listing.items = () => (chain.received.length > before + 1 ? replaced : [...stay, moved(1030)])
  await run([job])
  await run([job])
  const rows = await readCsvTable(job.output, 'transactions')
  const place = rows.filter(({ transaction_hash }) => transaction_hash === hashOf(150))
  expect(place.map(({ block_number }) => block_number)).toEqual(['1008'])
  expect(rows).toHaveLength(151)
  await expectValid(job.output)
})
