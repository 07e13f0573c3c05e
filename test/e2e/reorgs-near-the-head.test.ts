import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { run } from '../../src/export/run.ts'
import { verifyOutput } from '../../src/verify/export/verify-output.ts'
import { headJob } from '../helpers/growing-chain.ts'
import { readCsvTable } from '../helpers/read-output.ts'
import { addressOf, payment, startSyntheticChain } from '../helpers/synthetic-chain.ts'

const [ALICE, BOB] = [addressOf('one'), addressOf('two')]

test('reads the whole history again if needed, although the API lists future transactions', async () => {
  const stay = [1, 2, 3].map((number) => payment(number, ALICE, BOB))
  const chain = await startSyntheticChain([...stay, payment(4, ALICE, BOB)])
  const job = headJob(chain.url, { addresses: [ALICE] })
  await run([job])
  rmSync(join(job.output, '.walletlake'), { recursive: true })
  const future = payment(90, ALICE, BOB, { blockTimestamp: Date.UTC(2100, 0) / 1000 })
  chain.shown.items = () => [...stay, payment(4, ALICE, BOB, { block: 1010 }), future]
  expect((await run([job])).code).toBe('CLOCK_BEHIND')
  const rows = await readCsvTable(job.output, 'transactions')
  expect(rows.map(({ block_number }) => block_number)).toEqual(['1001', '1002', '1003', '1010'])
  expect((await verifyOutput(job.output)).problems).toEqual([])
})
