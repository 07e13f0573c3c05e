import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { baselineBytes, blockOf, blocksRun, expectVerified } from '../helpers/blocks-run.ts'
import { faultWhere, withChangedBlockPage } from '../helpers/faults.ts'
import { outputBytes } from '../helpers/output-bytes.ts'
import { readCsvTable, readManifest } from '../helpers/read-output.ts'
import { testSample } from '../helpers/test-sample.ts'

type Native = Record<string, unknown>

/** Changes the first page (at most 100 transactions) of one block. */
const spoil = (block: number, change: (natives: Native[]) => unknown[]) =>
  faultWhere(
    (request) => blockOf(request) === block && !request.query.has('pageToken'),
    withChangedBlockPage((page) => ({ ...page, transactions: change(page.transactions) })),
  )

testSample(
  2,
  [
    {
      what: 'without a hash',
      bad: (native: Native) => ({ ...native, txHash: '' }),
      reason: /txHash is missing/,
    },
    { what: 'that is null', bad: () => null, reason: /nativeTransaction is missing/ },
    {
      what: 'with an invalid block number',
      bad: (native: Native) => ({ ...native, blockNumber: 'x' }),
      reason: /blockNumber is not a block number/,
    },
    {
      what: 'with a value of more than 256 bits',
      bad: (native: Native) => ({ ...native, value: String(2n ** 256n) }),
      reason: /value is not/,
    },
  ],
  'rejects a transaction $what and keeps the rest of its block',
  async ({ bad, reason }) => {
    const calm = await readCsvTable((await blocksRun()).output, 'transactions')
    const faults = spoil(237, ([first, ...others]) => [bad(first ?? {}), ...others])
    const { code, output, jobs } = await blocksRun(faults)
    expect(code).toBe('RECORDS_REJECTED')
    expect(jobs[0]).toMatchObject({ state: 'complete', stats: { rejects: 1, missing: [] } })
    expect(readManifest(output).rejects).toBe(1)
    const [line = '', ...more] = readFileSync(join(output, 'rejects.ndjson'), 'utf8').trimEnd().split('\n')
    expect(more).toEqual([])
    const reject = JSON.parse(line) as Record<string, unknown>
    expect(reject).toMatchObject({ chain_id: '43114', wallet_address: null, list: null })
    expect(reject.reason).toMatch(reason)
    const lost = calm.find((row) => row.block_number === '237' && row.transaction_index === '0')
    expect(await readCsvTable(output, 'transactions')).toEqual(calm.filter((row) => row !== lost))
    await expectVerified(output)
  },
)

test('exports a transaction once that a block lists twice', async () => {
  const { code, output } = await blocksRun(spoil(240, (natives) => [...natives, ...natives]))
  expect(code).toBeUndefined()
  expect(outputBytes(output)).toEqual(await baselineBytes())
})

test('sorts the transactions of a block by index', async () => {
  const { code, output } = await blocksRun(spoil(237, (natives) => natives.toReversed()))
  expect(code).toBeUndefined()
  expect(outputBytes(output)).toEqual(await baselineBytes())
})

test('rejects a response about another block', async () => {
  const other = spoil(240, (natives) => natives.map((native) => ({ ...native, blockNumber: '241' })))
  const { code, message } = await blocksRun(other, { options: { retry: { retries: 1, firstDelayMs: 1 } } })
  expect(code).toBe('PAGE_MALFORMED')
  expect(message).toContain('block 240: the page holds block 241')
})
