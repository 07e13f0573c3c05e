import fc from 'fast-check'
import { expect, test } from 'vitest'
import {
  ALL_BLOCKS,
  baselineBytes,
  blockOf,
  blocksRun,
  chainBlocks,
  expectVerified,
  requestsFor,
} from '../helpers/blocks-run.ts'
import { outputBytes } from '../helpers/output-bytes.ts'
import { readCsvTable, readManifest, type TextRow } from '../helpers/read-output.ts'
import { testSample } from '../helpers/test-sample.ts'

const lower = (text: unknown) => String(text ?? '').toLowerCase()
const text = (value: unknown) => String(value ?? '')

/** Formats a text cell as in CSV: `'` precedes text that a spreadsheet would evaluate. */
const guarded = (value: unknown) => text(value).replace(/^(?=[=+\-@\t\r])/, "'")

/** The expected rows, from the chain's own files. */
const expectedRows = chainBlocks.flatMap(({ transactions }) =>
  transactions.map(({ from, to, method, ...native }) => ({
    chain_id: text(native.chainId),
    block_number: text(native.blockNumber),
    block_hash: lower(native.blockHash),
    block_timestamp: new Date(
      Number(native.blockTimestampMilliseconds ?? Number(native.blockTimestamp) * 1_000),
    ).toISOString(),
    transaction_hash: lower(native.txHash),
    transaction_index: text(native.blockIndex),
    transaction_type: text(native.txType),
    status: text(native.txStatus),
    success: text(native.txStatus === '1'),
    nonce: text(native.nonce),
    from_address: lower(from.address),
    from_name: guarded(from.name),
    to_address: lower(to.address),
    to_name: guarded(to.name),
    value: text(native.value),
    gas_limit: text(native.gasLimit),
    gas_used: text(native.gasUsed),
    gas_price: text(native.gasPrice),
    // What others paid for transactions with a fee cap is unknown.
    effective_gas_price: text(Number(native.txType) < 2 ? native.gasPrice : ''),
    transaction_fee: text(BigInt(native.gasUsed ?? 0) * BigInt(native.gasPrice ?? 0)),
    call_type: text(method?.callType),
    method_id: lower(method?.methodHash),
    method_name: guarded(method?.methodName),
    block_min_delay_excess: text(native.blockMinDelayExcess),
    extra_fee: '0',
  })),
) satisfies TextRow[]

test("exports every transaction of every block as in the chain's files", async () => {
  const { output, code, jobs } = await blocksRun(undefined, { job: ALL_BLOCKS })
  expect(code).toBeUndefined()
  expect(await readCsvTable(output, 'transactions')).toEqual(expectedRows)
  expect(expectedRows).toHaveLength(6_500)
  expect(jobs[0]).toMatchObject({
    state: 'complete',
    stats: { transactions: 6_500, missing: [], share: 1 },
  })
})

test('requests each page of each block once, with a page size', { tags: ['long'] }, async () => {
  const { requests } = await blocksRun(undefined, { job: ALL_BLOCKS })
  const pages = chainBlocks.map(({ transactions }) => Math.max(1, Math.ceil(transactions.length / 100)))
  expect(requests).toHaveLength(requestsFor(ALL_BLOCKS))
  for (const [block, count] of pages.entries())
    expect(requests.filter((one) => blockOf(one) === block)).toHaveLength(count)
  expect(new Set(requests.map(({ query }) => query.get('pageSize')))).toEqual(new Set(['100']))
})

test('lists its blocks and no wallets in the manifest', async () => {
  const { output } = await blocksRun(undefined, { job: { startBlock: 17, endBlock: 40 } })
  const manifest = readManifest(output)
  expect(manifest).toMatchObject({
    job: { kind: 'blocks', startBlock: 17, endBlock: 40, addresses: 0 },
    blocks: { fromBlock: 17, toBlock: 40, missing: [] },
    coverage: [],
    rejects: 0,
  })
  expect(Object.keys(manifest.tables)).toEqual(['transactions'])
  const rows = await readCsvTable(output, 'transactions')
  const inside = expectedRows.filter(({ block_number: block }) => Number(block) >= 17 && Number(block) < 40)
  expect(rows).toEqual(inside)
  await expectVerified(output)
})

testSample(1, ['csv', 'parquet'] as const, 'writes the same %s bytes at any concurrency', async (format) => {
  const calm = outputBytes((await blocksRun(undefined, { job: { format } })).output)
  const most = format === 'csv' ? 4 : 2
  await fc.assert(
    fc.asyncProperty(fc.integer({ min: 1, max: 256 }), async (concurrency) => {
      const { output } = await blocksRun(undefined, { job: { format, concurrency } })
      expect(outputBytes(output)).toEqual(calm)
    }),
    { numRuns: most, examples: [[1]] },
  )
})

testSample(
  1,
  [
    { format: 'csv', compression: 'none' },
    { format: 'csv', compression: 'gzip' },
    { format: 'parquet', compression: 'zstd' },
  ] as const,
  'passes verification as $format with $compression in several files',
  async (of) => {
    const { output } = await blocksRun(undefined, { job: { ...ALL_BLOCKS, ...of, maxRowsPerFile: 1_000 } })
    expect(readManifest(output).tables.transactions?.files).toHaveLength(7)
    await expectVerified(output)
  },
)

testSample(
  0,
  ['day', 'blocks:100'] as const,
  'distributes its files over folders by %s',
  async (partitionBy) => {
    const { output } = await blocksRun(undefined, { job: { ...ALL_BLOCKS, partitionBy } })
    expect(readManifest(output)).toMatchObject({ job: { kind: 'blocks', partitionBy } })
    expect(await readCsvTable(output, 'transactions')).toEqual(expectedRows)
    await expectVerified(output)
  },
)

test('requests nothing once all blocks are exported', async () => {
  const { output, jobs } = await blocksRun()
  const again = await blocksRun(undefined, { job: { output } })
  expect(again.requests).toEqual([])
  expect(again.jobs[0]).toMatchObject({ state: 'unchanged', stats: { rows: jobs[0]?.stats.rows } })
})

test('stores the raw responses of all blocks in one file', { tags: ['long'] }, async () => {
  const { output } = await blocksRun(undefined, { job: { keepRaw: true } })
  const calm = await baselineBytes()
  expect(Object.keys(outputBytes(output))).toEqual([...Object.keys(calm), 'raw/blocks.ndjson.gz'].sort())
  await expectVerified(output)
})
