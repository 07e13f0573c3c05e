import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { convert } from '../../src/accounting/convert.ts'
import { FORMAT_NAMES } from '../../src/accounting/formats.ts'
import type { Job } from '../../src/core/model/model.ts'
import { createDataService } from '../../src/demo-server/create-data-service.ts'
import type { Quirk } from '../../src/demo-server/quirks.ts'
import { type RunOptions, run } from '../../src/export/run.ts'
import { reconcileOutput } from '../../src/verify/reconcile/reconcile.ts'
import { expectValid } from '../helpers/expect-valid.ts'
import { testJob } from '../helpers/jobs.ts'
import { type Fault, send, startLoopback } from '../helpers/loopback.ts'
import { outputBytes } from '../helpers/output-bytes.ts'
import { writePrices } from '../helpers/prices.ts'
import { readCsvTable, readManifest } from '../helpers/read-output.ts'
import { tempFolder } from '../helpers/temp-folder.ts'

/** The wallets that the recorded atomic transactions credit and debit, in the order of their addresses. */
const [MIXED, PAYER, MANY] = [
  '0x0d3eb21b6b21833a4939cfff4810e9ae0758e12c',
  '0x58a57ed9d8d624cbd12e2c467d34787555bb1b25',
  '0xe42f4612e154153b68e241e8fde337e0c4dd6bbd',
] as const
const WALLETS = [MIXED, PAYER, MANY]
const ATOMIC = '/v1/networks/mainnet/blockchains/c-chain/transactions'

type ServiceOptions = { quirks?: readonly Quirk[]; head?: () => number; fault?: Fault }

async function startService({ quirks = [], head, fault }: ServiceOptions = {}) {
  const service = createDataService({ quirks: ['atomic-transfers', ...quirks], ...(head && { head }) })
  const { url, requests } = await startLoopback(service, fault)
  const job = (fields: Partial<Omit<Job, 'wallets'>> = {}): Job =>
    testJob({
      addresses: WALLETS,
      atomic: true,
      fees: 'listed',
      nativeSymbol: 'AVAX',
      output: tempFolder(),
      service: { baseUrl: url },
      ...fields,
    })
  const atomicRequests = () => requests.filter(({ path }) => path === ATOMIC)
  return { url, job, atomicRequests, requests }
}

async function runAndVerify(job: Job, options: RunOptions = {}) {
  const notices: string[] = []
  const retry = { retries: 2, firstDelayMs: 1, maxDelayMs: 2 }
  const { code, jobs } = await run([job], { retry, onNotice: (one) => notices.push(one), ...options })
  if (code === undefined) await expectValid(job.output)
  return { code, notices, stats: jobs[0]?.stats, error: jobs[0]?.error }
}

const atomicRows = async ({ output }: Pick<Job, 'output'>) =>
  (await readCsvTable(output, 'ledger')).filter(({ source }) => source === 'atomic_transactions')

const nativeRows = async (output: string, url: string) => {
  const { rows, wallets, located } = await reconcileOutput(output, { service: { baseUrl: url } })
  return { wallets, located, rows: rows.filter(({ asset_type }) => asset_type === 'native') }
}

test('without atomic, reconcile names the gap and the option; with it, every wallet reconciles', async () => {
  const { url, job: jobWith, atomicRequests } = await startService()
  const job = jobWith({ atomic: false, endBlock: undefined })
  expect((await runAndVerify(job)).code).toBeUndefined()
  expect([atomicRequests(), Object.keys(readManifest(job.output).tables)]).toEqual([
    [],
    expect.not.arrayContaining(['atomic_transactions']),
  ])
  const gap = await nativeRows(job.output, url)
  expect(gap.rows.map(({ wallet_address }) => wallet_address)).toEqual(WALLETS)
  for (const { likely_cause } of gap.rows) expect(likely_cause).toContain('atomic: true (--atomic)')
  expect(WALLETS.map((wallet) => gap.located.get(wallet)?.toBlock)).toEqual([40, 12, 301])

  const withAtomic = jobWith({ ...job, atomic: true, tables: jobWith().tables })
  const { notices } = await runAndVerify(withAtomic)
  expect(notices).toContainEqual(expect.stringContaining('atomic, tables changed, so all rows are written'))
  expect(atomicRequests().map(({ query }) => query.get('addresses'))).toEqual(WALLETS)
  const closed = await nativeRows(job.output, url)
  expect([closed.wallets.nativeReconciled, closed.rows]).toEqual([3, []])

  const without = await runAndVerify(job)
  expect([without.code, without.error?.message]).toEqual([
    'OUTPUT_CHANGED',
    expect.stringContaining('tables had atomic_transactions'),
  ])
})

test('amounts in nAVAX become wei, other assets stay out of the ledger, and burned AVAX is stated', async () => {
  const { job: jobWith } = await startService()
  const job = jobWith({ keepRaw: true })
  await runAndVerify(job)
  const table = await readCsvTable(job.output, 'atomic_transactions')
  expect(table).toHaveLength(40)
  const summary = (await atomicRows(job)).map((row) =>
    [row.block_number, row.entry_type, row.wallet_address?.slice(0, 6), row.value, row.amount].join(' '),
  )
  expect(summary.slice(0, 6)).toEqual([
    '12 import 0x58a5 25500000000000000000 25.5',
    '40 import 0x0d3e 3000000000000000000 3',
    '77 import 0x58a5 1000000000 0.000000001',
    '77 export 0x58a5 -10001000000000000000 -10.001',
    '200 export 0x0d3e -1500000000000000000 -1.5',
    '200 export 0x58a5 -2500000000000000000 -2.5',
  ])
  const other = table.filter(({ asset_symbol }) => asset_symbol === 'DEMO')
  expect(other).toMatchObject([{ value: '500000000', amount: '500', burned_value: '1000000' }])
  expect(new Set(table.map(({ burned_value }) => burned_value))).toEqual(new Set(['1000000', '1500000']))
  expect(readManifest(job.output).job.atomic).toBe(true)
  const { coverage } = readManifest(job.output)
  const seen = await readCsvTable(job.output, 'wallet_transactions')
  for (const { address, transactions } of coverage)
    expect(seen.filter((row) => row.wallet_address === address)).toHaveLength(transactions)
  expect(Object.keys(outputBytes(job.output))).toContain(`raw/${MANY}.atomic.ndjson.gz`)
})

test('later and interrupted runs have the rows of one run, and read new entries only', {
  tags: ['long'],
}, async () => {
  let head = 420
  const { job: jobWith, atomicRequests } = await startService({ head: () => head })
  const fields = { endBlock: undefined, partitionBy: 'blocks:50', tables: TABLES } as const
  const whole = jobWith({ ...fields, concurrency: 1 })
  await runAndVerify(whole)
  const stopped = jobWith(fields)
  for (let code: unknown = 'BUDGET_REACHED'; code === 'BUDGET_REACHED'; )
    code = (await runAndVerify(stopped, { maxRequests: 15 })).code
  expect(outputBytes(stopped.output)).toEqual(outputBytes(whole.output))

  const grown = jobWith(fields)
  for (const at of [90, 315, 420]) {
    head = at
    await runAndVerify(grown)
  }
  for (const table of TABLES)
    expect(await readCsvTable(grown.output, table)).toEqual(await readCsvTable(whole.output, table))
  const before = atomicRequests().length
  await runAndVerify(grown)
  const last = atomicRequests().slice(before)
  expect(last.map(({ query }) => [query.get('addresses'), query.get('sortOrder')])).toEqual(
    WALLETS.map((wallet) => [wallet, 'desc']),
  )
})

const TABLES = ['atomic_transactions', 'ledger'] as const

test('the block range of the job counts', { tags: ['long'] }, async () => {
  const { url, job: jobWith } = await startService()
  const job = jobWith({ startBlock: 40, endBlock: 310 })
  await runAndVerify(job)
  const blocks = (await readCsvTable(job.output, 'atomic_transactions')).map((row) =>
    Number(row.block_number),
  )
  expect([blocks[0], blocks.at(-1), blocks.length]).toEqual([40, 309, 16])
  expect((await nativeRows(job.output, url)).rows).toEqual([])
})

const answer =
  (status: number, when: (wallet: string | null) => boolean): Fault =>
  ({ path, query }) =>
    path === ATOMIC && when(query.get('addresses'))
      ? (response) =>
          send(response, {
            status,
            headers: {},
            body: JSON.stringify({ message: 'not here', statusCode: status }),
          })
      : undefined

test('a wallet whose atomic transactions are refused does not hold up the others', {
  tags: ['long'],
}, async () => {
  const { job: jobWith } = await startService({ fault: answer(403, (wallet) => wallet === PAYER) })
  const job = jobWith()
  const { code, stats } = await runAndVerify(job)
  expect([code, stats?.refused]).toEqual([
    'WALLETS_REFUSED',
    [{ address: PAYER, error: expect.stringMatching(/^atomic transactions: the service answered 403/) }],
  ])
  await expectValid(job.output)
  expect(readManifest(job.output).coverage).toMatchObject([
    { address: MIXED, toBlock: 421 },
    { address: PAYER, toBlock: 0, error: expect.any(String) },
    { address: MANY, toBlock: 421 },
  ])
  expect(new Set((await atomicRows(job)).map((row) => row.wallet_address))).toEqual(new Set([MIXED, MANY]))
})

test('a service without the listing ends the run', async () => {
  const { job: jobWith, atomicRequests } = await startService({ fault: answer(404, () => true) })
  const { code, error } = await runAndVerify(jobWith())
  expect([code, error?.message]).toEqual(['REQUEST_REFUSED', expect.stringContaining('atomic transactions')])
  expect(atomicRequests()).toHaveLength(3)
})

test('damaged, repeated and endless pages never lose or repeat an entry', { tags: ['long'] }, async () => {
  const cut: Fault = ({ path, count }) =>
    path === ATOMIC && count % 3 === 0
      ? (response, original) => send(response, { ...original, body: original.body.slice(0, -9) })
      : undefined
  const { job: jobWith } = await startService({ quirks: ['small-pages'], fault: cut })
  const job = jobWith({ concurrency: 1 })
  expect(
    (await runAndVerify(job, { retry: { retries: 7, firstDelayMs: 1, maxDelayMs: 2 } })).code,
  ).toBeUndefined()
  expect(await atomicRows(job)).toHaveLength(38)
})

test('malformed records and entries are rejected with reasons, and decorative fields become null', {
  tags: ['long'],
}, async () => {
  const spoil: Fault = ({ path, query }) =>
    path === ATOMIC && query.get('addresses') === PAYER
      ? (response, original) => {
          const page = JSON.parse(original.body)
          const [first, second, third] = page.transactions
          first.evmOutputs.push({
            toAddress: PAYER,
            asset: { assetId: first.evmOutputs[0].asset.assetId, amount: '-1' },
          })
          Object.assign(first.evmOutputs[0].asset, { name: 7, symbol: {}, denomination: 'x' })
          first.amountUnlocked = null
          second.txType = 'BaseTx'
          third.timestamp = 'yesterday'
          page.transactions.push({
            ...first,
            destinationChain: 'yH8D7ThNJkxmtkuv2jgBa4P1Rn3Qpr4pPr7QYNfcdoS6k6HWp',
          })
          page.transactions.push({ ...first, blockHeight: null }, 'text')
          send(response, { ...original, body: JSON.stringify(page) })
        }
      : undefined
  const { job: jobWith } = await startService({ fault: spoil })
  const job = jobWith()
  expect((await runAndVerify(job)).code).toBe('RECORDS_REJECTED')
  await expectValid(job.output)
  const lines = readFileSync(join(job.output, 'rejects.ndjson'), 'utf8').trim().split('\n')
  const rejects = lines.map((line) => JSON.parse(line))
  expect(rejects.map(({ list, reason, wallet_address }) => [list, reason, wallet_address]).sort()).toEqual([
    [null, expect.stringMatching(/^blockHeight is not a block number: null/), PAYER],
    [null, expect.stringMatching(/^destinationChain is not 2q9e/), PAYER],
    [null, 'nativeTransaction is missing', PAYER],
    [null, expect.stringMatching(/^timestamp is not a time: "yesterday"/), PAYER],
    [null, 'txType is neither ImportTx nor ExportTx', PAYER],
    ['evmOutputs', expect.stringMatching(/^amount is not a whole number of at most 64 bits/), PAYER],
  ])
  const [first] = await readCsvTable(job.output, 'atomic_transactions')
  expect(first).toMatchObject({
    asset_name: '7',
    asset_symbol: '',
    asset_decimals: '9',
    amount: '25.5',
    burned_value: '',
  })
})

test('every accounting format has imports as received and exports as sent amounts', {
  tags: ['long'],
}, async () => {
  const { job: jobWith } = await startService()
  const job = jobWith({ endBlock: 80 })
  const { output } = job
  await runAndVerify(job)
  const [folder, rows] = [tempFolder(), await readCsvTable(output, 'ledger')]
  const prices = await writePrices(output, join(folder, 'prices.csv'))
  for (const to of FORMAT_NAMES) {
    const out = join(folder, to)
    const { movements, omittedFile } = await convert(output, { to, out, ...(to === 'rp2' ? { prices } : {}) })
    const omitted = omittedFile === undefined ? '' : readFileSync(omittedFile, 'utf8')
    expect([to, movements, HASHES.filter((hash) => omitted.includes(hash))]).toEqual([to, rows.length, []])
  }
  const generic = readFileSync(join(folder, 'generic'), 'utf8').split('\n')
  const lines = HASHES.map((hash) =>
    generic
      .find((line) => line.includes(hash))
      ?.split(',')
      .slice(1, 7),
  )
  expect(lines).toEqual([
    ['in', '25.5', 'AVAX', '', '', ''],
    ['out', '', '', '', '10.001', 'AVAX'],
  ])
  const internal = readFileSync(join(folder, 'etherscan', `export-internal-${PAYER}.csv`), 'utf8').split('\n')
  for (const hash of HASHES) expect(internal.filter((line) => line.includes(hash))).toHaveLength(1)
  // The summaries of later transactions are still found.
  const listed = readFileSync(join(folder, 'etherscan', `export-${PAYER}.csv`), 'utf8')
    .trim()
    .split('\n')
  expect(listed.slice(1).filter((line) => line.split(',')[4] === '')).toEqual([])
})

/** An import and an export of one wallet. */
const HASHES = [
  'qbHNYRehmWZ975ioVyHmaHwTjXUVQGyy33WgbNQPX3Pe7ckC1',
  'VqcT98Vzn36Sa1cJacPmFD4XYF8nYdWt9yxWsYEZdVQqNQfPj',
]
