import { createHash } from 'node:crypto'
import { cpSync, existsSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parse } from 'csv-parse/sync'
import { beforeAll, expect, test } from 'vitest'
import { statement } from '../../src/accounting/statement/statement.ts'
import { createDataService } from '../../src/demo-server/create-data-service.ts'
import type { ServiceResponse } from '../../src/demo-server/data-service.ts'
import { run } from '../../src/export/run.ts'
import { balances } from '../../src/ledger/balances/balances.ts'
import { type ReconcileOptions, reconcileOutput } from '../../src/verify/reconcile/reconcile.ts'
import { storeVerdict } from '../../src/verify/reconcile/store-verdict.ts'
import type { ReconciledBalance } from '../../src/verify/reconcile/verdict.ts'
import { startReceiver } from '../cli/monitoring/receiver.ts'
import { runCommand } from '../helpers/command.ts'
import { exportDemo } from '../helpers/demo-export.ts'
import { expectValid } from '../helpers/expect-valid.ts'
import { testJob } from '../helpers/jobs.ts'
import { type Fault, type ReceivedRequest, send, startLoopback } from '../helpers/loopback.ts'
import { demoWallets, nodeData } from '../helpers/node-data.ts'
import { readCsvTable, readManifest, type TextRow } from '../helpers/read-output.ts'
import { shortQuota } from '../helpers/short-quota.ts'
import { suiteFolder, tempFile, tempFolder } from '../helpers/temp-folder.ts'

const service = createDataService()
const folder = suiteFolder()
/** Wallets with tokens of every kind. */
const mixed = join(folder, 'mixed')
const later = join(folder, 'later')
/** Wallets without tokens that change balances without Transfer events. */
const plain = join(folder, 'plain')
const FAILING = '0xa9999407c1315831bcf79f2956461f4f6d4c68f7'
const SELF = '0xeb32595b60757dc9a186eb86f2ad41ba5d1ca866'
const NFT_ONLY = '0x33ed23f86f8e72507a26748dc0a450590d7c679b'
const INTERNAL = '0x48a0b31dd707cfb02cbc8706fe88c676630a796b'
const PLAIN = [FAILING, SELF, NFT_ONLY, INTERNAL]
const MIXED = [...new Set([...demoWallets.slice(0, 12), SELF])]

beforeAll(async () => {
  await exportDemo(mixed, { addresses: MIXED })
  const { jobs } = await run([
    testJob({
      name: 'later',
      addresses: demoWallets.slice(0, 6),
      output: later,
      format: 'parquet',
      startBlock: 100,
    }),
    testJob({ name: 'plain', addresses: PLAIN, output: plain, fees: 'listed' }),
  ])
  expect(jobs.map(({ state }) => state)).toEqual(['complete', 'complete'])
})

type Given = Omit<ReconcileOptions, 'service'> & { output?: string; fault?: Fault }

async function reconcile({ output = plain, fault, ...options }: Given = {}) {
  const { url, requests } = await startLoopback(service, fault)
  const retry = { retries: 1, firstDelayMs: 1 }
  let predicted = 0
  const result = await reconcileOutput(output, {
    ...options,
    service: { baseUrl: url, retry },
    onStart: (start) => (predicted = start.requests),
  })
  return { ...result, received: requests, predicted }
}

/** The balances of the tokens that `truth` marks as not reconcilable, where they differ from the ledger. */
async function expectedDifferences(): Promise<string[]> {
  const sums = new Map<string, bigint>()
  for (const { wallet_address, asset_type, asset_address, value } of await readCsvTable(mixed, 'ledger')) {
    const key = `${wallet_address} ${asset_address}`
    if (asset_type === 'erc20') sums.set(key, (sums.get(key) ?? 0n) + BigInt(value ?? ''))
  }
  const lines = [...sums].flatMap(([key, sum]) => {
    const [wallet = '', token = ''] = key.split(' ')
    const [, known] = Object.entries(nodeData.erc20).find(([one]) => one.toLowerCase() === token) ?? []
    const balances = Object.entries(known?.checkpoints['420'] ?? {})
    const balance = BigInt(balances.find(([one]) => one.toLowerCase() === wallet)?.[1] ?? '0')
    if (balance === sum) return []
    expect(known?.reconcilable).toBe(false)
    return [`${key} ${sum} ${balance}`]
  })
  return lines.sort()
}

type BalanceKey = Pick<ReconciledBalance, 'wallet_address' | 'asset_type' | 'asset_address' | 'token_id'>

const keyOf = ({ wallet_address, asset_type, asset_address, token_id }: BalanceKey) =>
  [wallet_address, asset_type, asset_address, token_id].join(' ')

const ledgerValuesOf = (rows: readonly ReconciledBalance[]) =>
  new Map(rows.flatMap((row) => (row.ledger_value === 0n ? [] : [[keyOf(row), row.ledger_value]])))

/** The closing balances other than zero according to `statement`. */
async function closingBalances(output: string): Promise<Map<string, bigint>> {
  const { lines } = await statement([output], { from: '1970-01-01', until: '2999-12-31' })
  return new Map(
    lines.flatMap((line) => (line.amounts.closing === 0n ? [] : [[keyOf(line), line.amounts.closing]])),
  )
}

test('agrees with the node in the coin and all tokens that emit their transfers, and with a statement in every asset', async () => {
  const { rows: all, ...result } = await reconcile({ output: mixed, all: true })
  expect(ledgerValuesOf(all)).toEqual(await closingBalances(mixed))
  const rows = all.filter(({ difference }) => difference !== 0n)
  expect(result.wallets).toMatchObject({ selected: 13, compared: 13, nativeReconciled: 13 })
  expect(result.balances.erc721).toMatchObject({ different: 0 })
  expect(result.balances.erc1155).toMatchObject({ different: 0 })
  expect(result.balances.erc1155.compared).toBeGreaterThan(100)
  expect([result.block, result.skipped, result.genesisWallets]).toEqual([420, [], 13])
  const found = rows.map(
    (row) => `${row.wallet_address} ${row.asset_address} ${row.ledger_value} ${row.service_value}`,
  )
  expect(found.sort()).toEqual(await expectedDifferences())
  expect(found.length).toBeGreaterThan(10)
  expect([...new Set(rows.map(({ likely_cause }) => likely_cause?.split(':')[0]))].sort()).toEqual([
    'its contract takes and pays coins without Transfer events, as a wrapped coin does',
    "the token's Transfer events do not match its balances, as is usual for spam",
  ])
})

test('compares an export that begins later with the difference between two blocks', async () => {
  const { rows, received, predicted, ...result } = await reconcile({ output: later })
  expect(result.wallets).toMatchObject({ compared: 6, nativeReconciled: 6 })
  expect(rows.every(({ asset_type }) => asset_type === 'erc20')).toBe(true)
  expect(result.balances.erc1155).toMatchObject({ different: 0 })
  expect(result.skipped).toMatchObject([{ kind: 'erc721', why: 'no-opening' }])
  expect(received.length).toBe(predicted)
  const blocks = received.map(({ query }) => query.get('blockNumber'))
  expect(new Set(blocks)).toEqual(new Set(['99', '420']))
})

/** Writes what the wallets of `later` hold before its first block, the coin with `excess`, as a file of opening balances. */
async function writeOpening(excess = 0n): Promise<string> {
  const wallets = demoWallets.slice(0, 6).map((wallet) => wallet.toLowerCase())
  const tokens = (await balances(mixed, { at: '99', wallets })).balances.filter(
    ({ asset_type }) => asset_type !== 'native',
  )
  const coins = wallets.map((wallet) => {
    const url = `/v1/chains/43114/addresses/${wallet}/balances:getNative?blockNumber=99`
    return service.handle({ method: 'GET', url, headers: {} })
  })
  const values = (await Promise.all(coins)).map(({ body }) => JSON.parse(body).nativeTokenBalance.balance)
  const lines = [
    'wallet_address,asset_type,asset_address,token_id,value',
    ...wallets.map((wallet, at) => `${wallet},native,,,${BigInt(values[at]) + excess}`),
    ...tokens.map((one) =>
      [one.wallet_address, one.asset_type, one.asset_address, one.token_id, one.value].join(','),
    ),
  ]
  return tempFile('opening.csv', `${lines.join('\n')}\n`)
}

test('compares an export that begins later with current balances if it is given the opening balances', async () => {
  const earlier = await reconcile({ output: later })
  const { rows, received, predicted, ...result } = await reconcile({
    output: later,
    opening: await writeOpening(),
  })
  expect(result.wallets).toMatchObject({ compared: 6, nativeReconciled: 6 })
  expect([result.skipped, result.genesisWallets, result.opening]).toEqual([
    [],
    0,
    { unfilled: 0, ofOtherChains: 0, withoutRows: [] },
  ])
  expect(result.balances.erc721.compared).toBeGreaterThan(0)
  expect([result.balances.erc721.different, result.balances.erc1155.different]).toEqual([0, 0])
  expect(rows.length).toBeGreaterThanOrEqual(earlier.rows.length)
  expect(received.map(({ query }) => query.get('blockNumber'))).not.toContain('99')
  expect(received.length).toBe(predicted)
})

test('names an opening balance that is not correct', { tags: ['long'] }, async () => {
  const { rows } = await reconcile({ output: later, opening: await writeOpening(7n) })
  const coins = rows.filter(({ asset_type }) => asset_type === 'native')
  expect(coins.map(({ difference }) => difference)).toEqual(Array.from({ length: 6 }, () => -7n))
  for (const { likely_cause } of coins)
    expect(likely_cause).toMatch(/^an opening balance that is not correct, or /)
})

const isNative = ({ path }: ReceivedRequest) => path.endsWith(':getNative')
const isOf = (wallet: string) => (request: ReceivedRequest) =>
  isNative(request) && request.path.includes(wallet)

/** Adds an amount to the native balance of a wallet from a block on. */
function withExcess(wallet: string, from: number, excess: bigint): Fault {
  return (request) => {
    if (!isOf(wallet)(request) || Number(request.query.get('blockNumber')) < from) return undefined
    return (response, original) => send(response, addToBalance(original, excess))
  }
}

function addToBalance(original: ServiceResponse, excess: bigint): ServiceResponse {
  const { nativeTokenBalance } = JSON.parse(original.body)
  const balance = String(BigInt(nativeTokenBalance.balance) + excess)
  return { ...original, body: JSON.stringify({ nativeTokenBalance: { ...nativeTokenBalance, balance } }) }
}

const feesOf = async (wallet: string) =>
  (await readCsvTable(plain, 'ledger')).filter(
    (row) => row.wallet_address === wallet && row.entry_type === 'fee',
  )

test('names the first transaction of type 2 whose listed gas price is its fee cap', async () => {
  const typed = await readCsvTable(plain, 'transactions')
  const isCapped = ({ transaction_hash: hash }: TextRow) =>
    typed.some((one) => one.transaction_hash === hash && one.transaction_type === '2')
  const fees = await feesOf(FAILING)
  const fee = fees.filter(isCapped).at(5) as TextRow
  const excess = -BigInt(fee.value ?? '') / 3n
  const { rows, located, received } = await reconcile({
    fault: withExcess(FAILING, Number(fee.block_number), excess),
  })
  expect(rows.map(({ wallet_address, difference }) => [wallet_address, difference])).toEqual([
    [FAILING, excess],
  ])
  expect(rows[0]?.likely_cause).toMatch(/^the listed gas price is the fee cap, so the fee is \d+ too high/)
  expect(located.get(FAILING)).toMatchObject({
    fromBlock: Number(fee.block_number),
    toBlock: Number(fee.block_number),
    transaction: fee.transaction_hash,
  })
  expect(received.filter(isOf(FAILING)).length).toBeLessThanOrEqual(22)
})

test('names a block without a transaction of the wallet', async () => {
  const own = new Set((await readCsvTable(plain, 'ledger')).map(({ block_number }) => Number(block_number)))
  const block = Array.from({ length: 421 }, (_, at) => at).find((at) => at > 200 && !own.has(at)) ?? 0
  const { rows, located } = await reconcile({ fault: withExcess(SELF, block, -7n) })
  expect(located.get(SELF)).toMatchObject({ fromBlock: block, toBlock: block, transaction: null })
  expect(rows[0]?.likely_cause).toContain(`block ${block} changes the balance by -7 without a transaction`)
  expect(rows[0]?.likely_cause).toContain('X-Chain or P-Chain')
})

test('sends no further requests without the search for the first transaction', async () => {
  const { rows, received, located } = await reconcile({ fault: withExcess(SELF, 50, 9n), bisect: false })
  expect([rows.length, located.size, received.filter(isOf(SELF)).length]).toEqual([1, 0, 2])
})

/** Copies an export and removes one row of its ledger, as if it had never been exported. */
async function withoutRow(isRow: (row: TextRow) => boolean): Promise<{ output: string; row: TextRow }> {
  const output = join(tempFolder(), 'tampered')
  cpSync(plain, output, { recursive: true })
  const row = (await readCsvTable(output, 'ledger')).find(isRow) as TextRow
  const manifest = readManifest(output)
  const [file] = manifest.tables.ledger?.files ?? []
  const path = join(output, file?.path ?? '')
  const lines = readFileSync(path, 'utf8').split('\n')
  writeFileSync(path, lines.filter((line) => !line.includes(row.entry_id ?? '?')).join('\n'))
  Object.assign(file ?? {}, {
    rows: (file?.rows ?? 0) - 1,
    bytes: statSync(path).size,
    sha256: createHash('sha256').update(readFileSync(path)).digest('hex'),
  })
  Object.assign(manifest.tables.ledger ?? {}, { rows: file?.rows })
  writeFileSync(join(output, 'manifest.json'), JSON.stringify(manifest))
  return { output, row }
}

test('ends with exit code 10 and the transaction whose row is missing', async () => {
  const isReceipt = (row: TextRow) => row.wallet_address === INTERNAL && row.direction === 'in'
  const { output, row } = await withoutRow(isReceipt)
  const { url } = await startLoopback(service)
  const { exit, stdout, stderr } = await runCommand(['reconcile', output, '--base-url', url])
  expect(exit).toBe(10)
  expect(stdout).toContain('3 of 4 wallets reconciled at block 420')
  expect(stdout).toContain(
    `an internal payment to the wallet is not listed (+${row.value}): set internals: full in the job`,
  )
  expect(stdout).toContain(`(transaction ${row.transaction_hash}, block ${row.block_number})`)
  expect(stderr).toContain('comparing 4 wallets at block 420: at least ')
  expect(stderr).toMatch(
    /VERIFY_FAILED: .*\nfix: Do what the likely causes above say .*, then run this command again\.\n$/,
  )
})

test('a service without balances is not an error of the export', { tags: ['long'] }, async () => {
  const fault: Fault = ({ path }) =>
    path.includes('balances:') ? (response) => send(response, NOT_FOUND) : undefined
  const { url, requests } = await startLoopback(service, fault)
  const output = join(tempFolder(), 'whole')
  await exportDemo(output)
  const { exit, stdout, stderr } = await runCommand(['reconcile', output, '--base-url', url])
  expect([exit, stdout]).toEqual([4, ''])
  expect(stderr).toContain('BALANCES_UNAVAILABLE: cannot reconcile: ')
  expect(stderr).toContain('This says nothing about the export')
  expect(existsSync(join(output, 'reconciliation.json'))).toBe(false)
  // 64 wallets are compared at a time: their first requests are sent before a response arrives.
  expect(requests.length).toBeLessThanOrEqual(53 * 4)
})

const NOT_FOUND: ServiceResponse = { status: 404, headers: {}, body: '{"message":"not found"}' }

test('names the kinds of assets that the service does not report', async () => {
  const fault: Fault = ({ path }) =>
    path.endsWith(':listErc1155') ? (response) => send(response, NOT_FOUND) : undefined
  const { ok, skipped, balances } = await reconcile({ fault })
  expect(skipped).toMatchObject([{ kind: 'erc1155', why: 'not-offered' }])
  expect([ok, balances.erc1155.compared]).toEqual([true, 0])
})

/** Refuses the balances that `when` selects, as a service does that lacks the state of a block or bars a wallet. */
const refuse =
  (status: number, when: (request: ReceivedRequest) => boolean): Fault =>
  (request) =>
    request.path.includes('balances:') && when(request)
      ? (response) => send(response, { status, headers: {}, body: '{"message":"not for you"}' })
      : undefined

test.for([400, 404])('a difference stands if the service answers %i to earlier blocks', async (status) => {
  const excess = withExcess(SELF, 50, 9n)
  const isEarlier = (block: number) => block > 0 && block < 400
  const earlier = refuse(status, ({ query }) => isEarlier(Number(query.get('blockNumber'))))
  const { rows, located, received } = await reconcile({ fault: (one) => earlier(one) ?? excess(one) })
  expect(rows).toMatchObject([
    { wallet_address: SELF, likely_cause: expect.stringMatching(/^fee caps listed/) },
  ])
  expect([located.size, received.filter(isOf(SELF)).length]).toEqual([0, 3])
})

test('a wallet whose balances are refused does not hold up the others', async () => {
  const fault = refuse(403, ({ path }) => path.includes(SELF))
  const { url } = await startLoopback(service, fault)
  const { exit, stdout, stderr } = await runCommand(['reconcile', plain, '--base-url', url])
  expect([exit, stdout]).toEqual([4, expect.stringContaining('3 of 4 wallets reconciled at block 420')])
  expect(stdout).toContain('native of 1 wallet not compared: the service lacks or refuses them')
  expect(stderr).toContain('BALANCES_UNAVAILABLE: ')
})

test('a key that the service refuses is an error', async () => {
  const forbidden = reconcile({ fault: refuse(403, () => true) })
  await expect(forbidden).rejects.toMatchObject({ code: 'KEY_REFUSED', status: 403 })
  const unknown = reconcile({ fault: refuse(401, ({ path }) => path.includes(SELF)) })
  await expect(unknown).rejects.toMatchObject({ code: 'KEY_REFUSED', status: 401 })
})

test('does not compare NFTs if transactions followed the export', async () => {
  const fault: Fault = ({ path, query }) =>
    path.endsWith('/transactions') && query.get('startBlock') === '421'
      ? (response, original) => send(response, { ...original, body: '{"transactions":[{}]}' })
      : undefined
  const { ok, skipped } = await reconcile({ fault })
  expect(skipped).toMatchObject([{ kind: 'erc721', why: 'later-transactions' }])
  expect(ok).toBe(true)
})

test('compares a sample: always the same wallets, and no others', { tags: ['long'] }, async () => {
  const walletsOf = ({ received }: { received: readonly ReceivedRequest[] }) =>
    new Set(received.map(({ path }) => path.split('/')[5]))
  const [first, second] = [
    await reconcile({ output: mixed, sample: 7 }),
    await reconcile({ output: mixed, sample: 7 }),
  ]
  expect([first.wallets.selected, walletsOf(first).size]).toEqual([7, 7])
  expect(walletsOf(first)).toEqual(walletsOf(second))
  const one = await reconcile({ output: mixed, wallets: [SELF] })
  expect(walletsOf(one)).toEqual(new Set([SELF]))
})

test('waits for the quota of the service', async () => {
  const limited = createDataService(shortQuota())
  const { url } = await startLoopback(limited)
  const result = await reconcileOutput(plain, { service: { baseUrl: url } })
  expect([result.ok, result.rateLimited > 0]).toEqual([true, true])
})

test.for(['"12.5"', '12', '"-1"', 'null', '"0x10"'])('rejects the balance %s', async (balance) => {
  const fault: Fault = (request) =>
    isNative(request)
      ? (response, original) =>
          send(response, { ...original, body: `{"nativeTokenBalance":{"balance":${balance}}}` })
      : undefined
  await expect(reconcile({ fault })).rejects.toMatchObject({ code: 'PAGE_MALFORMED' })
})

const COLUMNS =
  'wallet_address,wallet_label,asset_type,asset_address,asset_symbol,token_id,ledger_value,service_value,difference,likely_cause'

test('writes the columns of the contract as CSV', async () => {
  const { url } = await startLoopback(service, withExcess(SELF, 0, 3n))
  const args = ['reconcile', plain, '--base-url', url, '--no-bisect']
  const csv = await runCommand([...args, '--format', 'csv', '--all'])
  const [header] = csv.stdout.split('\n')
  const rows: TextRow[] = parse(csv.stdout, { columns: true })
  expect([header, csv.exit]).toEqual([COLUMNS, 0])
  expect(new Set(rows.map(({ wallet_address }) => wallet_address))).toEqual(new Set(PLAIN))
  expect(csv.stderr).toContain('4 of 4 wallets reconciled at block 420')
})

test('writes differences as JSON', async () => {
  const { url } = await startLoopback(service, withExcess(SELF, 1, 3n))
  const { exit, stdout } = await runCommand(['reconcile', plain, '--base-url', url, '--format', 'json'])
  const rows = JSON.parse(stdout)
  expect(exit).toBe(10)
  expect(rows).toMatchObject([{ wallet_address: SELF, asset_type: 'native', difference: '3' }])
  expect(Object.keys(rows[0]).join()).toBe(COLUMNS)
})

test('proposes an adjustment for each difference, with which the ledger agrees', async () => {
  const { url } = await startLoopback(service, withExcess(SELF, 1, 3n))
  const file = join(tempFolder(), 'adjustments.csv')
  const reconcilePlain = ['reconcile', plain, '--base-url', url]
  const { exit, stderr } = await runCommand([...reconcilePlain, '--write-adjustments', file])
  expect(exit).toBe(10)
  expect(stderr).toContain(`1 adjustment proposed: check type and time of each in ${file}`)
  expect(parse(readFileSync(file, 'utf8'), { columns: true })).toMatchObject([
    { wallet_address: SELF, asset_type: 'native', value: '3', type: 'correction' },
  ])
  const again = await runCommand([...reconcilePlain, '--write-adjustments', file])
  expect(again).toMatchObject({ exit: 2, stderr: expect.stringContaining('already exists') })
  const adjusted = await runCommand([...reconcilePlain, '--adjustments', file])
  expect(adjusted).toMatchObject({ exit: 0 })
  const otherBooks = 'compared with other opening balances or adjustments'
  expect((await runCommand(['balances', plain])).stderr).toContain(otherBooks)
  expect((await runCommand(['balances', plain, '--adjustments', file])).stderr).not.toContain(otherBooks)
})

test('stops at the limit of requests, and divides only what it proposes', async () => {
  const { url, requests } = await startLoopback(service)
  const args = ['reconcile', plain, '--base-url', url]
  expect(await runCommand([...args, '--max-requests', '2'])).toMatchObject({ exit: 9 })
  expect(requests.length).toBeLessThanOrEqual(2)
  const divided = await runCommand([...args, '--rebase-by', 'day'])
  expect(divided).toMatchObject({ exit: 2, stderr: expect.stringContaining('--write-adjustments') })
})

test('stores the verdict; status and balances show it, and verify accepts it', async () => {
  const output = join(tempFolder(), 'copy')
  cpSync(plain, output, { recursive: true, filter: (path) => !path.endsWith('reconciliation.json') })
  const before = await runCommand(['status', output])
  expect(before.stdout).toContain('not reconciled')
  const result = await reconcile({ output })
  await storeVerdict(output, result)
  const stored = JSON.parse(readFileSync(join(output, 'reconciliation.json'), 'utf8'))
  expect(stored).toMatchObject({ block: 420, ok: true, differences: [], wallets: { exported: 4 } })
  await expectValid(output)
  const { stdout } = await runCommand(['status', output])
  expect(stdout).toMatch(/reconciled at block 420 on .* UTC: 4 of 4 wallets\n/)
  expect((await runCommand(['balances', output])).stderr).toContain('4 of 4 wallets')
  const manifest = readManifest(output)
  writeFileSync(join(output, 'manifest.json'), JSON.stringify({ ...manifest, changed: true }))
  expect((await runCommand(['status', output])).stdout).toContain('out of date')
})

test('run --reconcile ends with the verdict, also for monitoring', async () => {
  const { url } = await startLoopback(service, withExcess(SELF, 1, 3n))
  const receiver = await startReceiver()
  const output = join(tempFolder(), 'new')
  const args = ['run', '--chain', '43114', '--output', output, '--base-url', url, '--reconcile', '--quiet']
  args.push('--ping', receiver.url)
  const good = await runCommand([...args, '--address', INTERNAL])
  expect([good.exit, good.stderr]).toEqual([0, ''])
  expect(JSON.parse(readFileSync(join(output, 'reconciliation.json'), 'utf8')).ok).toBe(true)
  const bad = await runCommand([...args, '--address', INTERNAL, '--address', SELF])
  expect([bad.exit, bad.stderr.includes('VERIFY_FAILED')]).toEqual([10, true])
  expect(receiver.received.map((request) => request.url)).toEqual(['/start', '/', '/start', '/10'])
  const none = await runCommand([...args, '--address', INTERNAL, '--tables', 'transactions'])
  expect([none.exit, none.stderr.includes('exports no ledger')]).toEqual([2, true])
})
