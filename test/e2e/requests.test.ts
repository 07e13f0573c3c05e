import { expect, test } from 'vitest'
import { createDataService } from '../../src/demo-server/create-data-service.ts'
import { run } from '../../src/export/run.ts'
import { testJob } from '../helpers/jobs.ts'
import { startLoopback } from '../helpers/loopback.ts'
import { demoWallets, nodeData } from '../helpers/node-data.ts'
import { readManifest } from '../helpers/read-output.ts'
import { tempFolder } from '../helpers/temp-folder.ts'

/** Ten wallets: one of 21 pages, one of two, the others of one. */
const addresses = demoWallets.slice(37, 47)
const items = new Map(
  Object.entries(nodeData.membership)
    .map(([address, { items }]) => [address.toLowerCase(), items] as const)
    .filter(([address]) => addresses.includes(address)),
)
const pages = [...items.values()].reduce((sum, count) => sum + Math.max(1, Math.ceil(count / 100)), 0)
/** The listed prices need no request besides the pages, which these tests count. */
const fees = 'listed'
const at = (baseUrl: string) => ({ baseUrl })

const ends = [421, undefined]

test.for(ends)('one reader sends one request per page, with endBlock %s', async (endBlock) => {
  const { url, requests } = await startLoopback(createDataService())
  const output = tempFolder()
  await run([testJob({ addresses, output, endBlock, concurrency: 1, fees, service: at(url) })])
  expect(requests).toHaveLength(pages + proofs(endBlock))
  expectAllRead(output, endBlock)
})

// Which readers become idle first depends on the machine. A wallet shared by readers has an additional partial page.
test.for(ends)('many readers send at most 5 % more requests, with endBlock %s', async (endBlock) => {
  const { url, requests } = await startLoopback(createDataService())
  const output = tempFolder()
  await run([testJob({ addresses, output, endBlock, fees, service: at(url) })])
  expect(requests.length).toBeGreaterThanOrEqual(pages)
  expect(requests.length).toBeLessThanOrEqual(pages * 1.05 + proofs(endBlock))
  expectAllRead(output, endBlock)
})

/** With endBlock, one request finds out whether the service has indexed it. */
const proofs = (endBlock: number | undefined) => (endBlock === undefined ? 0 : 1)

function expectAllRead(output: string, endBlock: number | undefined): void {
  const { coverage } = readManifest(output)
  expect(coverage.map(({ address, transactions }) => [address, transactions])).toEqual([...items].sort())
  const ends = new Set(coverage.map(({ toBlock }) => toBlock))
  expect(ends).toContain(421)
  if (endBlock !== undefined) expect(ends).toEqual(new Set([421]))
}

test('requests every page with an explicit order, size and range', async () => {
  const { url, requests } = await startLoopback(createDataService())
  await run([testJob({ addresses: demoWallets.slice(0, 2), output: tempFolder(), fees, service: at(url) })])
  for (const { query } of requests.slice(1)) {
    expect(Object.fromEntries(query)).toMatchObject({
      sortOrder: 'asc',
      pageSize: '100',
      startBlock: '0',
      endBlock: '421',
    })
  }
})

test('sends one request for a wallet with at most 100 transactions if the head is unknown', async () => {
  const { url, requests } = await startLoopback(createDataService())
  const [small = ''] = [...items].find(([, count]) => count === 100) ?? []
  await run([
    testJob({ addresses: [small], output: tempFolder(), endBlock: undefined, fees, service: at(url) }),
  ])
  expect(requests).toHaveLength(1)
})

test('uses the same end block for all wallets if the chain grows while a run is interrupted', {
  tags: ['long'],
}, async () => {
  let head = 300
  const { url } = await startLoopback(createDataService({ head: () => head }))
  const output = tempFolder()
  const job = testJob({ addresses, output, endBlock: undefined, fees, service: at(url) })
  expect((await run([job], { maxRequests: 6 })).code).toBe('BUDGET_REACHED')
  head = 420
  expect((await run([job])).code).toBeUndefined()
  const calm = tempFolder()
  await run([testJob({ addresses, output: calm, endBlock: undefined, fees, service: at(url) })])
  expect(readManifest(output).tables).toEqual(readManifest(calm).tables)
})
