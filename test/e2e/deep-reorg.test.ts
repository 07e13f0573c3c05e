import { expect, test } from 'vitest'
import { run } from '../../src/export/run.ts'
import { headJob } from '../helpers/growing-chain.ts'
import { opaqueTokens } from '../helpers/listing-page.ts'
import { readCsvTable } from '../helpers/read-output.ts'
import { addressOf, hashOf, payment, startSyntheticChain } from '../helpers/synthetic-chain.ts'

const ALICE = addressOf('one')
const NUMBERS = Array.from({ length: 600 }, (_, at) => at + 1)
/** Transactions that the second request lists, 150 to 159 blocks below the head. */
const REMOVED = new Set(NUMBERS.slice(-160, -150))

/** One transaction per block. Before the third request, a reorg removes some that the second request listed. */
async function startReorganised() {
  const all = NUMBERS.map((number) => payment(number, ALICE, addressOf('two')))
  const chain = await startSyntheticChain(all, opaqueTokens)
  const left = all.filter((_, at) => !REMOVED.has(at + 1))
  chain.listing.items = () => (chain.received.length > 2 ? left : all)
  return chain
}

const hashes = async (output: string) =>
  (await readCsvTable(output, 'transactions')).map(({ transaction_hash }) => transaction_hash)

test('--lookback covers reorgs of that depth while pages with opaque tokens are read', async () => {
  const chain = await startReorganised()
  const job = headJob(chain.url, { addresses: [ALICE], concurrency: 1 })
  const stayed = NUMBERS.filter((number) => !REMOVED.has(number)).map(hashOf)
  expect((await run([job], { lookbackBlocks: 400 })).code).toBeUndefined()
  expect(await hashes(job.output)).toEqual(expect.arrayContaining(stayed))
  expect((await run([job], { lookbackBlocks: 400 })).code).toBeUndefined()
  expect(await hashes(job.output)).toEqual(stayed)
})
