import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { estimateLines } from '../../src/cli/plan-lines.ts'
import type { Job } from '../../src/core/model/model.ts'
import { createDataService } from '../../src/demo-server/create-data-service.ts'
import { estimateRun } from '../../src/export/estimate.ts'
import { readPastRuns } from '../../src/export/history/past-runs.ts'
import { inspectJob } from '../../src/export/inspect-output.ts'
import { type RunOptions, run } from '../../src/export/run.ts'
import { rows } from '../../src/index.ts'
import { expectValid } from '../helpers/expect-valid.ts'
import { runInSteps } from '../helpers/growing-chain.ts'
import { testJob } from '../helpers/jobs.ts'
import { listedJob } from '../helpers/listed-items.ts'
import type { ListedItem } from '../helpers/listing-page.ts'
import { type Fault, startLoopback } from '../helpers/loopback.ts'
import { demoWallets, nodeData } from '../helpers/node-data.ts'
import { outputBytes } from '../helpers/output-bytes.ts'
import { readCsvTable, readManifest, type TextRow } from '../helpers/read-output.ts'
import { serve } from '../helpers/serve.ts'
import { tempFolder } from '../helpers/temp-folder.ts'
import { testSample } from '../helpers/test-sample.ts'
import { ALICE, BOB, item } from '../transform/items.ts'

const DETAILS = /\/transactions\/0x[0-9a-f]{64}$/
const SMALL_WALLETS = demoWallets.slice(37, 44)

type ServiceOptions = { quirks?: readonly 'fee-cap'[]; head?: () => number; fault?: Fault }

/** Starts the demo service, by default with fee caps in its listings. */
async function startService({ fault, ...options }: ServiceOptions = {}) {
  const service = createDataService({ quirks: ['fee-cap'], ...options })
  const { url, requests } = await startLoopback(service, fault)
  const details = () => requests.filter(({ path }) => DETAILS.test(path)).map(({ path }) => path)
  const job = (fields: Partial<Omit<Job, 'wallets'>> & { addresses?: readonly string[] } = {}) =>
    testJob({
      addresses: SMALL_WALLETS,
      output: tempFolder(),
      service: { baseUrl: url },
      ...fields,
    })
  return { job, details }
}

async function runAndVerify(job: Job, options: RunOptions = {}) {
  const notices: string[] = []
  const { code, jobs } = await run([job], { onNotice: (notice) => notices.push(notice), ...options })
  await expectValid(job.output)
  const { feesUpperBound = 0, job: exported } = readManifest(job.output)
  return { code, notices, stats: jobs[0]?.stats, fees: [exported.fees, feesUpperBound] }
}

async function plannedLines(job: Job): Promise<string[]> {
  const state = await inspectJob(job)
  return estimateLines(estimateRun(job, state, await readPastRuns(job.output)), job, state.manifest)
}

/** The transactions of type 2 that wallets of the job sent. */
async function sentIn({ output, wallets }: Job): Promise<TextRow[]> {
  const own = new Set(wallets.map(({ address }) => address))
  const all = await readCsvTable(output, 'transactions')
  return all.filter((row) => row.transaction_type === '2' && own.has(row.from_address ?? ''))
}

const pathOf = ({ transaction_hash }: TextRow) => `/v1/chains/43114/transactions/${transaction_hash}`

test('native ledgers equal the balances of the node although the listing shows fee caps', async () => {
  const { job: jobWith, details } = await startService()
  const addresses = demoWallets.filter((_, at) => at % 4 === 1)
  const endBlock = 60
  const job = jobWith({ addresses, endBlock, tables: ['transactions', 'ledger'] })
  expect(await runAndVerify(job)).toMatchObject({ code: undefined, notices: [], fees: ['exact', 0] })
  const sums = new Map<string, bigint>()
  for (const { asset_type, wallet_address = '', value = '' } of await readCsvTable(job.output, 'ledger'))
    if (asset_type === 'native') sums.set(wallet_address, (sums.get(wallet_address) ?? 0n) + BigInt(value))
  for (const [address, balances] of Object.entries(nodeData.nativeByBlock)) {
    const wallet = address.toLowerCase()
    if (!addresses.includes(wallet)) continue
    const end = balances.findLast(([block]) => block < endBlock)
    const [first, last] = [BigInt(balances[0]?.[1] ?? ''), BigInt(end?.[1] ?? '')]
    expect([wallet, first + (sums.get(wallet) ?? 0n)]).toEqual([wallet, last])
  }
  const sent = await sentIn(job)
  expect(sent.length).toBeGreaterThan(50)
  expect(details().sort()).toEqual(sent.map(pathOf).sort())
})

test('a listing of effective prices is recognized by a few requests, once', { tags: ['long'] }, async () => {
  let head = 60
  const { job: jobWith, details } = await startService({ quirks: [], head: () => head })
  const job = jobWith({ endBlock: undefined })
  expect((await runAndVerify(job)).fees).toEqual(['exact', 0])
  const probes = details().length
  expect(probes).toBeGreaterThanOrEqual(1)
  expect(probes).toBeLessThanOrEqual(5)
  head = 90
  expect((await runAndVerify(job)).fees).toEqual(['exact', 0])
  expect(details()).toHaveLength(probes)
  const sent = await sentIn(job)
  expect(sent.every((row) => row.effective_gas_price === row.gas_price)).toBe(true)
})

const notFound: ReturnType<Fault> = (response) => {
  response.writeHead(404).end('{}')
}

test('a service without details keeps the listed prices, as upper bounds', { tags: ['long'] }, async () => {
  const { job: jobWith, details } = await startService({
    fault: ({ path }) => (DETAILS.test(path) ? notFound : undefined),
  })
  const job = jobWith()
  const { code, fees } = await runAndVerify(job)
  const sent = await sentIn(job)
  expect([code, fees]).toEqual([undefined, ['listed', sent.length]])
  expect(details()).toHaveLength(5)
  const listed = jobWith({ fees: 'listed' })
  expect((await runAndVerify(listed)).fees).toEqual(['listed', sent.length])
  expect(details()).toHaveLength(5)
  const exact = jobWith({ fees: 'exact' })
  expect((await runAndVerify(exact)).fees).toEqual(['listed', sent.length])
  expect(details()).toHaveLength(10)
  expect(await readCsvTable(exact.output, 'ledger')).toEqual(await readCsvTable(job.output, 'ledger'))
})

test('beyond the budget fees are upper bounds, until exact fees are requested', async () => {
  const { job: jobWith, details } = await startService({ head: () => 90 })
  const job = jobWith({ endBlock: undefined, feesBudget: 10 })
  const first = await runAndVerify(job)
  const sent = await sentIn(job)
  expect(first.fees).toEqual(['listed', sent.length])
  expect(first.notices).toEqual([
    expect.stringMatching(
      new RegExp(`the fees of ${sent.length} transactions .* --fees exact costs ${sent.length} requests`),
    ),
  ])
  expect(details().length).toBeLessThanOrEqual(5)
  const exact = { ...job, fees: 'exact' } as const
  expect(await plannedLines(exact)).toContain(
    `  fees   at most ${sent.length} more requests for exported fees that are upper bounds,`,
  )
  const second = await runAndVerify(exact)
  expect(second.fees).toEqual(['exact', 0])
  expect(second.notices).toContain('test: fees changed, so all rows are written again')
  expect(details().sort()).toEqual(sent.map(pathOf).sort())
  const atOnce = jobWith({ endBlock: undefined, fees: 'exact' })
  await runAndVerify(atOnce)
  for (const table of ['transactions', 'ledger'] as const)
    expect(await readCsvTable(job.output, table)).toEqual(await readCsvTable(atOnce.output, table))
})

test('an interrupted run requests no details again and writes the same bytes', {
  tags: ['long'],
}, async () => {
  const { job: jobWith, details } = await startService()
  const [job, calm] = [jobWith(), jobWith()]
  expect(await runInSteps(job, 25)).toBeGreaterThan(5)
  expect(new Set(details()).size).toBe(details().length)
  await run([calm])
  expect(outputBytes(job.output)).toEqual(outputBytes(calm.output))
})

test('rows() gives the rows of an export', { tags: ['long'] }, async () => {
  const { job: jobWith } = await startService()
  const job = jobWith()
  await runAndVerify(job)
  const prices: unknown[] = []
  for await (const row of rows(job, 'transactions'))
    prices.push([row.transaction_hash, row.effective_gas_price, row.transaction_fee])
  const exported = await readCsvTable(job.output, 'transactions')
  expect(prices).toEqual(
    exported.map((row) => [
      row.transaction_hash,
      row.effective_gas_price || null,
      row.transaction_fee || null,
    ]),
  )
})

const DELIVERIES = ['erc20-0', 'erc721-0', 'index-1']

/** A recorded delivery as the listing and the details would state its transaction. */
function recorded(name: string) {
  const file = new URL(`../fixtures/real/delivery-${name}.json`, import.meta.url)
  const { transaction: sent } = JSON.parse(readFileSync(file, 'utf8')).event
  const { blockHash, blockNumber, blockTimestamp, chainId, txHash, txStatus, nonce, value, gasPrice } = sent
  const nativeTransaction = {
    blockHash,
    blockNumber,
    blockTimestamp,
    chainId,
    txHash,
    txStatus,
    nonce,
    value,
    gasPrice,
    blockIndex: sent.transactionIndex,
    txType: sent.type,
    gasLimit: sent.gas,
    gasUsed: sent.receiptGasUsed,
    from: { address: sent.from },
    to: { address: sent.to },
  }
  const { maxFeePerGas, maxPriorityFeePerGas, receiptEffectiveGasPrice } = sent
  const baseFeePerGas = String(BigInt(receiptEffectiveGasPrice) - BigInt(maxPriorityFeePerGas))
  const details = { ...nativeTransaction, baseFeePerGas, maxFeePerGas, maxPriorityFeePerGas }
  const fee = String(BigInt(sent.receiptGasUsed) * BigInt(receiptEffectiveGasPrice))
  const internalTransactions = (sent.internalTransactions ?? []).map(
    ({ from, to, ...call }: { from: string; to: string }) => ({
      ...call,
      from: { address: from },
      to: { address: to },
      isReverted: false,
    }),
  )
  return {
    item: { nativeTransaction, internalTransactions } as ListedItem,
    details,
    sender: sent.from.toLowerCase(),
    hash: txHash,
    fee,
  }
}

test('recorded transactions of the public service have the fees of their receipts', async () => {
  const all = DELIVERIES.map(recorded)
  const url = await serve((request, response) => {
    const path = request.url ?? ''
    const found = all.filter(({ hash, sender }) => path.includes(hash) || path.toLowerCase().includes(sender))
    const body = DETAILS.test(path)
      ? { nativeTransaction: found[0]?.details }
      : { transactions: found.map(({ item }) => item) }
    response.setHeader('content-type', 'application/json')
    response.end(JSON.stringify(body))
  })
  const job = listedJob(url, { addresses: all.map(({ sender }) => sender), endBlock: 46_000_000 })
  await runAndVerify(job)
  const exported = await readCsvTable(job.output, 'transactions')
  const fees = Object.fromEntries(exported.map((row) => [row.transaction_hash, row.transaction_fee]))
  expect(fees).toEqual(Object.fromEntries(all.map(({ hash, fee }) => [hash, fee])))
  expect(all[0]?.fee).toBe('1189026000000000')
  // The recorded lists begin with the call of the transaction itself, which would count its value twice.
  const ledger = await readCsvTable(job.output, 'ledger')
  const moved = ledger.filter(({ asset_type, entry_type }) => asset_type === 'native' && entry_type !== 'fee')
  expect(moved.map(({ transaction_hash, source, value }) => [transaction_hash, source, value])).toEqual([
    [all[2]?.hash, 'transactions', '-30576074978046450'],
  ])
})

test('tries more transactions, the same in every run, before details would exceed the budget', async () => {
  const all = Array.from({ length: 20 }, (_, at) => {
    const [txHash, blockHash] = [`0x${String(at).padStart(64, '0')}`, `0xb${at}`]
    const fields = { blockNumber: at, blockTimestamp: 1_700_000_000 + at, txType: 2 }
    return item({ ...fields, txHash, blockHash, gasPrice: '32', gasUsed: '21000' })
  })
  let requested = 0
  const url = await serve((request, response) => {
    const found = all.find(({ nativeTransaction: { txHash } }) => request.url?.endsWith(String(txHash)))
    requested += found === undefined ? 0 : 1
    // The price of the first ten transactions is their cap, which proves nothing.
    const cap = found !== undefined && Number(found.nativeTransaction.blockNumber) < 10 ? '32' : '100'
    const prices = { baseFeePerGas: '30', maxFeePerGas: cap, maxPriorityFeePerGas: '2' }
    const body = found
      ? { nativeTransaction: { ...found.nativeTransaction, ...prices } }
      : { transactions: all }
    response.setHeader('content-type', 'application/json')
    response.end(JSON.stringify(body))
  })
  const job = listedJob(url, { addresses: [ALICE], endBlock: 20, feesBudget: 3 })
  const { fees, notices } = await runAndVerify(job)
  expect([fees, notices.filter((notice) => notice.includes('budget'))]).toEqual([['exact', 0], []])
  expect(requested).toBeLessThanOrEqual(16)
})

/** Transactions of type 2 and 0 of a rollup whose details state the fee for publishing on L1. */
async function serveRollup(gasPrice: string): Promise<string> {
  const sent = (block: number, txType: number) => {
    const [txHash, blockHash] = [`0x${String(block).padStart(64, '0')}`, `0xb${block}`]
    const fields = { chainId: '10', blockNumber: block, blockTimestamp: 1_700_000_000 + block, txType }
    return item({ ...fields, txHash, blockHash, gasPrice, gasUsed: '21000' })
  }
  const [early, late] = [sent(100, 2), sent(40_000_000, 0)]
  const prices = { baseFeePerGas: '30', maxFeePerGas: '100', maxPriorityFeePerGas: '2', l1Fee: '7' }
  return serve((request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? '/', 'http://loopback')
    const isAsked = ({ nativeTransaction: { blockNumber } }: ListedItem) =>
      Number(blockNumber) >= Number(searchParams.get('startBlock')) &&
      Number(blockNumber) < Number(searchParams.get('endBlock'))
    const body = DETAILS.test(pathname)
      ? { nativeTransaction: { ...early.nativeTransaction, ...prices } }
      : { transactions: [early, late].filter(isAsked) }
    response.setHeader('content-type', 'application/json')
    response.end(JSON.stringify(body))
  })
}

test('exact fees replace the listed ones of a rollup, whose L1 fees are unknown before', async () => {
  const url = await serveRollup('100')
  const job = listedJob(url, { addresses: [ALICE], chain: '10', fees: 'listed' })
  expect((await runAndVerify(job)).fees).toEqual(['listed', 1])
  expect(readManifest(job.output).feeUnknown).toBe(2)
  expect((await runAndVerify({ ...job, fees: 'exact' })).fees).toEqual(['exact', 0])
  // Details are requested for transactions with a fee cap only.
  expect(readManifest(job.output).feeUnknown).toBe(1)
  const [row] = await readCsvTable(job.output, 'transactions')
  expect(row).toMatchObject({ effective_gas_price: '32', transaction_fee: String(21_000 * 32 + 7) })
})

test('auto requests the L1 fees of a rollup although the listed prices are those that were paid', async () => {
  const url = await serveRollup('32')
  const job = listedJob(url, { addresses: [ALICE], chain: '10', fees: 'auto' })
  expect((await runAndVerify(job)).fees).toEqual(['exact', 0])
  const [row] = await readCsvTable(job.output, 'transactions')
  expect(row).toMatchObject({ effective_gas_price: '32', transaction_fee: String(21_000 * 32 + 7) })
  expect(readManifest(job.output).feeUnknown).toBe(1)
})

test('auto keeps the listed prices of a rollup, without L1 fees, if details exceed the budget', async () => {
  const url = await serveRollup('32')
  const job = listedJob(url, { addresses: [ALICE], chain: '10', fees: 'auto', feesBudget: 0 })
  await runAndVerify(job)
  const [row] = await readCsvTable(job.output, 'transactions')
  expect(row).toMatchObject({ effective_gas_price: '32', transaction_fee: String(21_000 * 32) })
  expect(readManifest(job.output).feeUnknown).toBe(2)
})

/** An explorer whose only wallet sent two transactions at 5 wei a unit of gas; the second states what it paid on L1. */
async function serveExplorer() {
  const sent = (index: number, fields: Record<string, string>) => ({
    blockNumber: '7',
    timeStamp: '1600000007',
    hash: `0x${String(index).repeat(64)}`,
    blockHash: '0xb7',
    transactionIndex: String(index),
    nonce: String(index),
    from: ALICE,
    to: BOB,
    value: '0',
    input: '0x',
    gas: '21000',
    gasUsed: '21000',
    gasPrice: '5',
    isError: '0',
    txreceipt_status: '1',
    ...fields,
  })
  return serve((request, response) => {
    const query = new URL(request.url ?? '/', 'http://loopback').searchParams
    const isAsked = Number(query.get('startblock')) <= 7 && Number(query.get('endblock')) >= 7
    const result =
      query.get('action') === 'txlist' && isAsked ? [sent(1, {}), sent(2, { L1FeesPaid: '9' })] : []
    response.setHeader('content-type', 'application/json')
    response.end(JSON.stringify({ status: '1', message: 'OK', result }))
  })
}

const CHAINS = [
  { chain: '424242', extra: ['', '9'], feeUnknown: 1 },
  { chain: '1', extra: ['0', '9'], feeUnknown: 0 },
  { chain: '8453', extra: ['', '9'], feeUnknown: 1 },
  { chain: '7777777', extra: ['', '9'], feeUnknown: 1 },
]
testSample(
  2,
  CHAINS,
  'an explorer proves a fee on chain $chain only by stating its L1 part',
  async ({ chain, extra, feeUnknown }) => {
    const baseUrl = await serveExplorer()
    const service = { baseUrl, api: 'etherscan', apiKeyHeader: 'x', timeoutMs: 30_000 } as const
    const job = testJob({ addresses: [ALICE], chain, endBlock: 8, output: tempFolder(), service })
    expect((await runAndVerify(job)).fees).toEqual(['exact', 0])
    const rows = await readCsvTable(job.output, 'transactions')
    expect(rows.map((row) => row.transaction_fee)).toEqual([String(21_000 * 5), String(21_000 * 5 + 9)])
    expect(rows.map((row) => row.extra_fee)).toEqual(extra)
    expect(readManifest(job.output).feeUnknown).toBe(feeUnknown)
  },
)
