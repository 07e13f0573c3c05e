import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parse } from 'csv-parse/sync'
import { describe, expect, test } from 'vitest'
import { convert } from '../../src/accounting/convert.ts'
import { FORMAT_NAMES } from '../../src/accounting/formats.ts'
import { statement } from '../../src/accounting/statement/statement.ts'
import type { Job } from '../../src/core/model/model.ts'
import { balances } from '../../src/ledger/balances/balances.ts'
import { verifyOutput } from '../../src/verify/export/verify-output.ts'
import { runCommand } from '../helpers/command.ts'
import { expectValid } from '../helpers/expect-valid.ts'
import { exportListed, listedJob, startListing } from '../helpers/listed-items.ts'
import type { ListedItem } from '../helpers/listing-page.ts'
import { readCsvTable, readManifest } from '../helpers/read-output.ts'
import { tempFolder } from '../helpers/temp-folder.ts'
import { testSample } from '../helpers/test-sample.ts'
import { ALICE, BOB, CAROL, erc20, internal, item, type Json, party } from '../transform/items.ts'

const WAVAX = '0xb31f66aa3c1e785363f0875a1b74e27b85fd66c7'
const coins = (amount: number) => `${BigInt(amount) * 10n ** 18n}`

const listed = (block: number, changes: Json, lists: Json = {}): ListedItem => {
  const hash = `0x${String(block).padStart(64, '0')}`
  const gas = { gasUsed: '21000', gasPrice: '25000000000' }
  return item(
    { blockNumber: `${block}`, blockHash: `0xb${hash.slice(3)}`, txHash: hash, ...gas, ...changes },
    lists,
  )
}
const call = (methodName: string, methodHash: string) => ({
  method: { callType: 'CONTRACT_CALL', methodName, methodHash },
})
const DEPOSIT = call('deposit()', '0xd0e30db0')
const WITHDRAW = call('withdraw(uint256)', '0x2e1a7d4d')
const sent = (to: string, value: string) =>
  erc20({ to: party(to), value }, { address: WAVAX, symbol: 'WAVAX', decimals: 18 })
const fromContract = (to: string, value: string) => ({
  internalTransactions: [internal({ from: party(WAVAX), to: party(to), value })],
})

/** ALICE wraps 5 + 2 and unwraps 1; BOB, a contract, wraps 3 and unwraps 2 by internal calls and gets 2 from ALICE. */
const CHAIN: readonly ListedItem[] = [
  listed(10, { to: party(ALICE), from: party(CAROL), value: coins(100) }),
  listed(11, { to: party(BOB), from: party(CAROL), value: coins(100) }),
  listed(12, { to: party(WAVAX), value: coins(5), ...DEPOSIT }),
  listed(13, { to: party(WAVAX), value: coins(2) }),
  listed(14, { to: party(WAVAX), value: coins(9), txStatus: '0', ...DEPOSIT }),
  listed(15, { to: party(WAVAX), ...WITHDRAW }, fromContract(ALICE, coins(1))),
  listed(16, { to: party(WAVAX) }, { erc20Transfers: [sent(BOB, coins(2))] }),
  listed(
    17,
    { from: party(CAROL), to: party(BOB) },
    { internalTransactions: [internal({ from: party(BOB), to: party(WAVAX), value: coins(3) })] },
  ),
  listed(18, { from: party(CAROL), to: party(BOB) }, fromContract(BOB, coins(2))),
]

const startJob = async (options: Partial<Job> = {}) => {
  const { url } = await startListing(CHAIN)
  return listedJob(url, { addresses: [ALICE, BOB], ...options })
}

const wrappedRows = async ({ output }: Pick<Job, 'output'>) =>
  (await readCsvTable(output, 'ledger')).filter(({ entry_type }) => /wrap/.test(entry_type ?? ''))

/** Changes what the manifest says about the setting; undefined removes it. */
function claim({ output }: Job, wraps: string | undefined) {
  const path = join(output, 'manifest.json')
  const manifest = JSON.parse(readFileSync(path, 'utf8'))
  manifest.job.wraps = wraps
  writeFileSync(path, JSON.stringify(manifest))
}

const command = (...words: string[]) => runCommand(words)

test('the command line exports wraps that add up to the balances, and --wraps off leaves them out', async () => {
  const { url } = await startListing(CHAIN)
  const output = join(tempFolder(), 'out')
  const wallets = [ALICE, BOB].flatMap((address) => ['--address', address])
  const run = (...words: string[]) =>
    command('run', '--chain', '43114', ...wallets, '--base-url', url, '--output', output, ...words)
  expect((await run()).exit).toBe(0)
  const rows = await wrappedRows({ output })
  expect(rows.map((row) => [row.block_number, row.entry_type, row.amount].join(' '))).toEqual([
    '12 wrap 5',
    '13 wrap 2',
    '15 unwrap -1',
    '17 wrap 3',
    '18 unwrap -2',
  ])
  const { stdout, stderr } = await command('balances', output, '--format', 'csv')
  expect(stdout.split('\n').filter((line) => line.includes(WAVAX))).toEqual([
    `${ALICE},,erc20,${WAVAX},WAVAX,,${coins(4)},4`,
    `${BOB},,erc20,${WAVAX},WAVAX,,${coins(3)},3`,
  ])
  expect(stderr).not.toContain('WAVAX was below zero')
  expect((await command('verify', output)).exit).toBe(0)
  const off = await run('--wraps', 'off')
  expect([off.exit, off.stderr]).toEqual([
    0,
    expect.stringContaining('wraps changed, so all rows are written'),
  ])
  expect([readManifest(output).job.wraps, await wrappedRows({ output })]).toEqual(['off', []])
  expect((await command('verify', output)).exit).toBe(0)
  const wrong = await run('--wraps', 'on')
  expect([wrong.exit, wrong.stderr]).toEqual([2, expect.stringContaining('ledger, off')])
})

test('a statement shows both sides of wraps as wrapped, and tokens between own wallets apart', {
  tags: ['long'],
}, async () => {
  const job = await startJob()
  await exportListed(job)
  const { lines } = await statement([job.output], { from: '2000-01-01', until: '2999-12-31' })
  const amounts = lines.map(({ wallet_address, asset_symbol, amounts: all }) => [
    wallet_address,
    asset_symbol,
    ...[all.received, all.own_in, all.own_out, all.wrapped_in, all.wrapped_out].map(
      (value) => value / 10n ** 18n,
    ),
  ])
  expect(amounts).toEqual([
    [ALICE, job.nativeSymbol, 100n, 0n, 0n, 1n, 7n],
    [ALICE, 'WAVAX', 0n, 0n, 2n, 7n, 1n],
    [BOB, job.nativeSymbol, 100n, 0n, 0n, 2n, 3n],
    [BOB, 'WAVAX', 0n, 2n, 0n, 3n, 2n],
  ])
})

test('without wraps, a negative sum of the token is explained and not taken for spam', async () => {
  const job = await startJob({ wraps: 'off' })
  await exportListed(job)
  const { belowZero, flagged } = await balances(job.output)
  expect(belowZero.map(({ causes }) => causes)).toEqual([
    [expect.stringContaining('wraps the coin without Transfer events')],
  ])
  expect(flagged).toEqual([])
})

test('wrappedCoins adds the rows of a contract that the table of chains lacks, and balances name it as the fix', async () => {
  const onChain = ({ nativeTransaction, ...lists }: ListedItem) => ({
    ...lists,
    nativeTransaction: { ...nativeTransaction, chainId: '999' },
  })
  const { url } = await startListing(CHAIN.map(onChain))
  const output = join(tempFolder(), 'out')
  const wallets = [ALICE, BOB].flatMap((address) => ['--address', address])
  const run = (...words: string[]) =>
    command('run', '--chain', '999', ...wallets, '--base-url', url, '--output', output, ...words)
  expect((await run()).exit).toBe(0)
  expect(await wrappedRows({ output })).toEqual([])
  const { belowZero } = await balances(output)
  expect(belowZero.map(({ causes }) => causes)).toEqual([
    [expect.stringContaining(`(wrappedCoins: [${WAVAX}], or --wrapped-coins ${WAVAX})`)],
  ])

  const named = await run('--wrapped-coins', WAVAX.toUpperCase().replace('0X', '0x'))
  expect([named.exit, named.stderr]).toEqual([0, expect.stringContaining('wrappedCoins changed')])
  expect(readManifest(output).job.wrappedCoins).toEqual([WAVAX])
  expect(await wrappedRows({ output })).toHaveLength(5)
  await expectValid(output)
  expect((await balances(output)).belowZero).toEqual([])

  const again = await run('--wrapped-coins', WAVAX)
  expect([again.exit, again.stderr]).toEqual([0, expect.not.stringContaining('changed')])
  const wrong = await run('--wrapped-coins', 'WHYPE')
  expect([wrong.exit, wrong.stderr]).toEqual([2, expect.stringContaining('0x and 40 hexadecimal digits')])
})

test('an export of an older version, without the setting, gets the rows', { tags: ['long'] }, async () => {
  const job = await startJob()
  await exportListed({ ...job, wraps: 'off' })
  claim(job, undefined)
  await expectValid(job.output)
  expect((await exportListed(job)).verdict.problems).toEqual([])
  expect(await wrappedRows(job)).toHaveLength(5)
})

describe('verify', () => {
  testSample(
    1,
    [
      {
        format: 'csv',
        wraps: 'off',
        claimed: 'ledger',
        says: /expected wrap in of 5000000000000000000 .* found no such row/,
      },
      {
        format: 'parquet',
        wraps: 'ledger',
        claimed: 'off',
        says: /entry_id: expected the id of a fact in transactions, found/,
      },
    ] as const,
    'finds rows of an export with wraps: $wraps that claims $claimed',
    async (given) => {
      const { format, wraps, claimed, says } = given
      const one = await startJob({ wraps, format })
      expect((await exportListed(one)).verdict.problems).toEqual([])
      claim(one, claimed)
      const { problems } = await verifyOutput(one.output)
      expect(problems).toContainEqual(expect.stringMatching(says))
      expect(problems).toContainEqual(expect.stringMatching(/^ledger total of .* in erc20/))
    },
  )

  test.for([
    { tables: ['ledger'] },
    { tables: ['transactions', 'ledger'] },
    { tables: ['internal_transactions', 'ledger'] },
    { tables: ['erc20_transfers', 'internal_transactions', 'ledger'] },
  ] as const)('accepts wraps of an export of $tables', async ({ tables }) => {
    const { code, verdict } = await exportListed(await startJob({ tables }))
    expect([code, verdict.problems]).toEqual([undefined, []])
  })
})

async function exportWraps() {
  const job = await startJob()
  await exportListed(job)
  const folder = tempFolder()
  const prices = join(folder, 'prices.csv')
  writeFileSync(prices, `date,asset,currency,price\n2023-11-14,native,USD,20\n2023-11-14,${WAVAX},USD,20\n`)
  return {
    ledger: await readCsvTable(job.output, 'ledger'),
    async converted(to: string, fees?: 'separate') {
      const out = join(folder, to)
      return { ...(await convert(job.output, { to, out, fees, ...(to === 'rp2' ? { prices } : {}) })), out }
    },
  }
}

test('every accounting format gets both sides of a wrap, and explorer files have its token', async () => {
  const { ledger, converted } = await exportWraps()
  for (const to of FORMAT_NAMES) {
    const { movements, omitted } = await converted(to)
    expect([to, movements, omitted]).toEqual([to, ledger.length, {}])
  }
  const { out } = await converted('etherscan')
  const tokens = readFileSync(join(out, `export-token-${ALICE}.csv`), 'utf8')
  expect(tokens).toContain(`,5,,${WAVAX},WAVAX,`)
})

/** The sum of the amounts of an asset, in units of 10^-18. */
const sumOf = (amounts: readonly (readonly [amount: string, asset: string])[], asset: string) =>
  amounts.reduce((sum, [amount, name]) => {
    const [whole = '', fraction = ''] = amount.split('.')
    return name === asset ? sum + BigInt(whole + fraction.padEnd(18, '0')) : sum
  }, 0n)

const WRAP_LINES = [
  {
    to: 'koinly',
    type: 'Label',
    wrap: 'swap',
    received: ['Received Amount', 'Received Currency'],
    sent: ['Sent Amount', 'Sent Currency'],
  },
  {
    to: 'cointracking',
    type: 'Type',
    wrap: 'Swap (non taxable)',
    received: ['Buy Amount', 'Buy Currency'],
    sent: ['Sell Amount', 'Sell Currency'],
  },
  {
    to: 'generic',
    type: 'type',
    wrap: 'wrap',
    received: ['received_amount', 'received_asset'],
    sent: ['sent_amount', 'sent_asset'],
  },
]

test('files and journals have one line or price for each wrap, and the balances of the ledger', {
  tags: ['long'],
}, async () => {
  const { ledger, converted } = await exportWraps()
  const [coin, token] = ['native', 'erc20'].map((type) =>
    ledger.reduce((sum, row) => (row.asset_type === type ? sum + BigInt(row.value ?? '') : sum), 0n),
  )
  for (const { to, type, wrap, received, sent } of WRAP_LINES) {
    const { out } = await converted(to, 'separate')
    const lines: Record<string, string>[] = parse(readFileSync(out), { columns: true })
    expect(lines.filter((line) => line[type] === wrap)).toHaveLength(5)
    const amountsIn = ([amount = '', asset = '']: readonly string[]) =>
      lines.map((line) => [line[amount] ?? '', line[asset] ?? ''] as const)
    const balance = (asset: string) => sumOf(amountsIn(received), asset) - sumOf(amountsIn(sent), asset)
    expect([to, balance('AVAX'), balance('WAVAX')]).toEqual([to, coin, token])
  }
  const journal = readFileSync((await converted('hledger')).out, 'utf8')
  const postings = [...journal.matchAll(/^ +assets:crypto:.*? {2}(-?[\d.]+) "(\w+)"/gm)]
  const amounts = postings.map(([, amount = '', asset = '']) => [amount, asset] as const)
  expect([sumOf(amounts, 'AVAX'), sumOf(amounts, 'WAVAX')]).toEqual([coin, token])
  expect(journal.match(/@@/g)).toHaveLength(5)
})
