import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { createDataService } from '../../src/demo-server/create-data-service.ts'
import type { DataService } from '../../src/demo-server/data-service.ts'
import { run } from '../../src/export/run.ts'
import { verifyOutput } from '../../src/verify/export/verify-output.ts'
import { testJob } from '../helpers/jobs.ts'
import { startLoopback } from '../helpers/loopback.ts'
import { readCsvTable } from '../helpers/read-output.ts'
import { addressOf, payment, startSyntheticChain } from '../helpers/synthetic-chain.ts'
import { tempFolder } from '../helpers/temp-folder.ts'

const WALLET = addressOf('alice')
const START = 1_700_000_000

/** A service whose block 1000 + n has the n-th time, in seconds. */
const serviceOf = (seconds: readonly number[]) =>
  createDataService({
    chains: {
      43114: seconds.map((blockTimestamp, at) =>
        payment(at, addressOf('nobody'), WALLET, { blockTimestamp }),
      ) as never,
    },
  })

/** The blocks of an export, and the reasons of its rejects. */
async function contentOf(output: string) {
  const blocks = (await readCsvTable(output, 'transactions')).map((row) => Number(row.block_number))
  const lines = readFileSync(join(output, 'rejects.ndjson'), 'utf8').trim().split('\n')
  const reasons = lines.map((line) => (JSON.parse(line) as { reason: string }).reason)
  return { blocks, reasons, problems: (await verifyOutput(output)).problems }
}

const BACKWARD = 'its block is older than an earlier block'

test.for([
  { what: 'a block without a time', seconds: [0, 0, 2, 4], reason: /before the first block/, at: 1 },
  { what: 'a block older than earlier ones', seconds: [0, 2, -9, 4, 6], reason: BACKWARD, at: 2 },
  { what: 'a block of the future', seconds: [0, 2, 9_999, 4, 6], reason: BACKWARD, at: 2 },
  { what: 'the second of two contradicting blocks', seconds: [9, 0], reason: BACKWARD, at: 1 },
])('$what is rejected, and no other', async ({ seconds, reason, at }) => {
  const times = seconds.map((second) => START + second)
  if (reason !== BACKWARD) times[at] = 0
  const { url } = await startLoopback(serviceOf(times))
  const service = { baseUrl: url, apiKeyHeader: 'x', timeoutMs: 30_000 }
  const output = join(tempFolder(), 'out')
  const { code } = await run([
    testJob({ addresses: [WALLET], output, endBlock: 1_100, service, fees: 'listed' }),
  ])
  expect(code).toBe('RECORDS_REJECTED')
  const { blocks, reasons, problems } = await contentOf(output)
  expect(blocks).toEqual(times.map((_, block) => 1_000 + block).filter((block) => block !== 1_000 + at))
  expect(reasons).toEqual([expect.stringMatching(reason)])
  expect(problems).toEqual([])
})

test('a block older than those of earlier runs is rejected', async () => {
  const times = Array.from({ length: 50 }, (_, at) => START + 2 * at)
  let current: DataService = serviceOf(times)
  const { url } = await startLoopback({ handle: (request) => current.handle(request) })
  const service = { baseUrl: url, apiKeyHeader: 'x', timeoutMs: 30_000 }
  const output = join(tempFolder(), 'out')
  const job = testJob({ addresses: [WALLET], output, endBlock: undefined, service, fees: 'listed' })
  expect((await run([job], { lookbackBlocks: 0 })).code).toBeUndefined()
  current = serviceOf([...times, START + 1, START + 200])
  expect((await run([job], { lookbackBlocks: 0 })).code).toBe('RECORDS_REJECTED')
  const { blocks, reasons, problems } = await contentOf(output)
  expect(blocks).toEqual([...times.map((_, at) => 1_000 + at), 1_051])
  expect({ reasons, problems }).toEqual({ reasons: [BACKWARD], problems: [] })
})

test('a transaction keeps the position of the views that are not rejected', async () => {
  const wallets = [addressOf('one'), addressOf('two')].sort() as [string, string]
  const payments = [0, 10, 20, 30].map((number) => payment(number, ...wallets))
  const chain = await startSyntheticChain(payments)
  const moved = [{ block: 1_015, blockTimestamp: START }, { block: 1_025 }]
  chain.listing.items = (wallet) => [
    ...payments,
    payment(5, ...wallets, moved[wallets.indexOf(wallet)] ?? {}),
  ]
  const output = join(tempFolder(), 'out')
  const job = testJob({ addresses: wallets, output, endBlock: 1_100, service: { baseUrl: chain.url } })
  expect((await run([job])).code).toBe('RECORDS_REJECTED')
  const { blocks, reasons, problems } = await contentOf(output)
  expect({ blocks, reasons, problems }).toEqual({
    blocks: [1_000, 1_010, 1_020, 1_025, 1_030],
    reasons: [BACKWARD],
    problems: [],
  })
})
