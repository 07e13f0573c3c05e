import { cpSync, existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parse } from 'csv-parse/sync'
import { beforeAll, expect, test } from 'vitest'
import { convert } from '../../src/accounting/convert.ts'
import { statement } from '../../src/accounting/statement/statement.ts'
import { createDataService } from '../../src/demo-server/create-data-service.ts'
import { run } from '../../src/export/run.ts'
import { type BalancesOptions, balances } from '../../src/ledger/balances/balances.ts'
import { type ReconcileOptions, reconcileOutput } from '../../src/verify/reconcile/reconcile.ts'
import { storeVerdict } from '../../src/verify/reconcile/store-verdict.ts'
import { runCommand } from '../helpers/command.ts'
import { expectValid } from '../helpers/expect-valid.ts'
import { testJob } from '../helpers/jobs.ts'
import { startLoopback } from '../helpers/loopback.ts'
import { demoWallets } from '../helpers/node-data.ts'
import { readManifest } from '../helpers/read-output.ts'
import { suiteFolder, tempFile, tempFolder } from '../helpers/temp-folder.ts'

const service = createDataService()
const folder = suiteFolder()
const [complete, later] = [join(folder, 'complete'), join(folder, 'later')]
/** Wallets without tokens that change balances without Transfer events, and one with such tokens. */
const PLAIN = ['0xa9999407c1315831bcf79f2956461f4f6d4c68f7', '0xeb32595b60757dc9a186eb86f2ad41ba5d1ca866']
const [FIRST = '', SECOND = ''] = PLAIN
const [WITH_SPAM = ''] = demoWallets.map((wallet) => wallet.toLowerCase())

beforeAll(async () => {
  await run([
    testJob({ name: 'complete', addresses: [...PLAIN, WITH_SPAM], output: complete, fees: 'listed' }),
    testJob({ name: 'later', addresses: PLAIN, output: later, startBlock: 100, fees: 'listed' }),
  ])
})

function copyOf(output: string): string {
  const copy = join(tempFolder(), 'copy')
  cpSync(output, copy, { recursive: true })
  return copy
}

async function reconcile(output: string, options: Omit<ReconcileOptions, 'service'> = {}) {
  const { url } = await startLoopback(service)
  const result = await reconcileOutput(output, { ...options, service: { baseUrl: url } })
  await storeVerdict(output, result)
  return result
}

/** The coins that the service reports after a block. */
async function coinsAt(wallet: string, block: number): Promise<bigint> {
  const url = `/v1/chains/43114/addresses/${wallet}/balances:getNative?blockNumber=${block}`
  const { body } = await service.handle({ method: 'GET', url, headers: {} })
  return BigInt(JSON.parse(body).nativeTokenBalance.balance)
}

async function coinsOf(output: string, options: BalancesOptions = {}): Promise<bigint[]> {
  const { balances: held } = await balances(output, { wallets: PLAIN, all: true, ...options })
  return held.filter(({ asset_type }) => asset_type === 'native').map(({ value }) => value)
}

const stored = (output: string) => JSON.parse(readFileSync(join(output, 'reconciliation.json'), 'utf8'))

test.for([
  { what: 'an export from genesis', output: complete },
  { what: 'an export that begins later', output: later },
])('$what shows what its wallets hold once it is reconciled', async ({ output: original }) => {
  const output = copyOf(original)
  const sums = await coinsOf(output)
  await reconcile(output)
  const held = await Promise.all(PLAIN.map((wallet) => coinsAt(wallet, 420)))
  expect(await coinsOf(output)).toEqual(held)
  expect(await coinsOf(output, { opening: false })).toEqual(sums)
  expect(sums).not.toEqual(held)
  const { lines } = await statement([output], { from: '1970-01-01', until: '2999-12-31', wallets: PLAIN })
  expect(
    lines.flatMap(({ asset_type, amounts }) => (asset_type === 'native' ? [amounts.closing] : [])),
  ).toEqual(held.filter((value) => value !== 0n))
  await expectValid(output)
})

test('a conversion has a line for each opening balance that was learned', { tags: ['long'] }, async () => {
  const output = copyOf(complete)
  const { movements } = await convert(output, { to: 'generic' })
  await reconcile(output, { wallets: PLAIN })
  const text: string[] = []
  const converted = await convert(output, { to: 'generic', write: (chunk) => void text.push(chunk) })
  expect(converted.movements).toBe(movements + 2)
  const rows: Record<string, string>[] = parse(text.join(''), { columns: true })
  expect(rows.slice(0, 2).map((row) => Object.values(row).slice(1, 4))).toEqual([
    ['opening', '10000', 'AVAX'],
    ['opening', '10000', 'AVAX'],
  ])
  expect((await convert(output, { to: 'generic', opening: false })).movements).toBe(movements)
})

test('a verdict about some wallets keeps what was learned about the others', async () => {
  const output = copyOf(complete)
  await reconcile(output)
  const held = await coinsOf(output)
  await reconcile(output, { wallets: [SECOND] })
  expect(await coinsOf(output)).toEqual(held)
})

test('what was learned about another first block is not used', async () => {
  const output = copyOf(later)
  const sums = await coinsOf(output)
  await reconcile(output)
  const verdict = stored(output)
  for (const entry of verdict.opening) entry.before_block = 99
  writeFileSync(join(output, 'reconciliation.json'), JSON.stringify(verdict))
  expect(await coinsOf(output)).toEqual(sums)
})

test('--fresh forgets what was learned', { tags: ['long'] }, async () => {
  const output = copyOf(complete)
  await reconcile(output, { wallets: [FIRST] })
  const job = testJob({ name: 'complete', addresses: [...PLAIN, WITH_SPAM], output, fees: 'listed' })
  await run([job])
  expect(existsSync(join(output, 'reconciliation.json'))).toBe(true)
  await run([job], { fresh: true })
  expect(existsSync(join(output, 'reconciliation.json'))).toBe(false)
})

test('genesis records in the manifest are opening balances, also of a service that does not state them', async () => {
  const output = copyOf(complete)
  const manifest = readManifest(output)
  const genesis = { assetType: 'native', assetAddress: null, tokenId: null, value: String(10n ** 22n) }
  const opening = PLAIN.map((walletAddress) => ({ walletAddress, ...genesis }))
  writeFileSync(join(output, 'manifest.json'), JSON.stringify({ ...manifest, opening }))
  const held = await Promise.all(PLAIN.map((wallet) => coinsAt(wallet, 420)))
  expect(await coinsOf(output)).toEqual(held)
  const { url, requests } = await startLoopback(service)
  const result = await reconcileOutput(output, { wallets: PLAIN, service: { baseUrl: url } })
  expect([result.ok, result.genesisWallets]).toEqual([true, 2])
  expect(requests.map(({ query }) => query.get('blockNumber'))).not.toContain('0')
  await expectValid(output)
})

test('compares only wallets that changed since they agreed, and those that did not agree', async () => {
  const output = copyOf(complete)
  const first = await reconcile(output)
  expect(first.wallets).toMatchObject({ selected: 3, reconciled: 2, unchanged: 0 })
  const again = await reconcile(output, { onlyChanged: true })
  expect(again.wallets).toMatchObject({ selected: 3, nativeReconciled: 3, reconciled: 2, unchanged: 2 })
  expect(new Set(again.rows.map(({ wallet_address }) => wallet_address))).toEqual(new Set([WITH_SPAM]))
  const verdict = stored(output)
  verdict.reconciled[FIRST] = 'of other sums'
  writeFileSync(join(output, 'reconciliation.json'), JSON.stringify(verdict))
  expect((await reconcile(output, { onlyChanged: true })).wallets.unchanged).toBe(1)
  const none = await reconcile(output, { onlyChanged: true, wallets: PLAIN })
  expect([none.ok, none.requests, none.wallets.unchanged]).toEqual([true, 0, 2])
})

test('differences in the file of --accept are no error while it is given, and their wallets are compared again', {
  tags: ['long'],
}, async () => {
  const output = copyOf(complete)
  const { url } = await startLoopback(service)
  const args = ['reconcile', output, '--base-url', url]
  const listed = await runCommand([...args, '--format', 'csv'])
  expect(listed.exit).toBe(10)
  const file = tempFile('accepted.csv', listed.stdout)
  const accepted = await runCommand([...args, '--format', 'csv', '--accept', file])
  expect([accepted.exit, accepted.stdout.split('\n').length]).toEqual([0, listed.stdout.split('\n').length])
  expect(accepted.stdout).toContain('accepted in line 2 of the file of --accept')
  expect(accepted.stderr).toMatch(/\d+ differences accepted by the user/)
  const job = ['run', '--chain', '43114', '--output', output, '--base-url', url, '--end-block', '421']
  const addresses = [...PLAIN, WITH_SPAM].flatMap((address) => ['--address', address])
  const nightly = [...job, ...addresses, '--fees', 'listed', '--accept', file]
  const result = await runCommand([...nightly, '--reconcile=changed'])
  expect(result.stdout).toContain('2 wallets unchanged since an earlier comparison')
  expect(result.stdout).toMatch(/\d+ differences accepted by the user/)
  expect(result.exit).toBe(0)
  const forgotten = [...job, ...addresses, '--fees', 'listed', '--reconcile=changed']
  expect(await runCommand(forgotten)).toMatchObject({ exit: 10 })
  const without = await runCommand([...nightly])
  expect([without.exit, without.stderr]).toEqual([2, expect.stringContaining("needs option '--reconcile'")])
})

test('the first complete run says that nothing was reconciled, and how to; a later one does not', async () => {
  const { url } = await startLoopback(service)
  const output = join(tempFolder(), 'new')
  const args = ['run', '--chain', '43114', '--address', FIRST, '--output', output, '--base-url', url]
  const first = await runCommand(args)
  const [line = ''] = first.stdout.trimEnd().split('\n').slice(-1)
  expect(line).toMatch(
    /^not reconciled; `.*walletlake reconcile \/.*` compares with the service \(1 request\)$/,
  )
  expect(line).toContain(output)
  expect((await runCommand(args)).stdout).not.toContain('not reconciled')
  const reconciled = await runCommand([...args, '--fresh', '--reconcile'])
  expect(reconciled.stdout).not.toContain('not reconciled')
})
