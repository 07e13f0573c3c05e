import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { run } from '../../src/export/run.ts'
import { headJob } from '../helpers/growing-chain.ts'
import { addressOf, payment, startSyntheticChain } from '../helpers/synthetic-chain.ts'

const [ALICE, BOB] = [addressOf('one'), addressOf('two')].sort() as [string, string]

test('a run says why it goes back to an earlier step, and its report counts it', async () => {
  const [before, after] = [payment(1, ALICE, BOB), payment(1, ALICE, BOB, { block: 1050 })]
  const later = [200, 300, 400].map((at) => payment(at, ALICE, BOB))
  const chain = await startSyntheticChain([before, ...later])
  let isChanged = false
  chain.listing.items = (wallet) => {
    isChanged ||= wallet === BOB
    return [wallet === ALICE && !isChanged ? before : after, ...later]
  }
  const job = headJob(chain.url, { addresses: [ALICE, BOB], concurrency: 1 })
  const runAgain = async () => {
    const details: string[] = []
    const { code, id } = await run([job], { onDetail: (detail) => details.push(detail) })
    expect(code).toBeUndefined()
    const report = JSON.parse(readFileSync(join(job.output, 'runs', `${id}.json`), 'utf8')) as object
    return { details, report }
  }
  const first = await runAgain()
  expect(first.details).toContain(`${job.name}: contradiction: back from merge to fetch`)
  expect(first.report).toMatchObject({ wentBack: { contradiction: 1 } })

  // A reorg within the lookback takes the newest transaction away.
  later.pop()
  const second = await runAgain()
  expect(second.details.filter((detail) => detail.includes('back from'))).toEqual([
    `${job.name}: removal: back from compare to fetch`,
    `${job.name}: lookback: back from compare to fetch`,
  ])
  expect(second.report).toMatchObject({ wentBack: { removal: 1, lookback: 1 } })
})
