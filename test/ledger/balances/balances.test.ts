import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, test } from 'vitest'
import { type Balance, balances } from '../../../src/ledger/balances/balances.ts'
import { compareExpected } from '../../../src/ledger/balances/compare-expected.ts'
import { exportDemo, genesisCsv } from '../../helpers/demo-export.ts'
import { nodeBalances, unreconcilable, valuesOf } from '../../helpers/node-balances.ts'
import { nodeData } from '../../helpers/node-data.ts'
import { readCsvTable, readManifest } from '../../helpers/read-output.ts'
import { suiteFolder, tempFile, tempFolder } from '../../helpers/temp-folder.ts'
import { testSample } from '../../helpers/test-sample.ts'

const folder = suiteFolder()
const csv = join(folder, 'csv')
const parquet = join(folder, 'parquet')
const opening = join(folder, 'genesis.csv')

beforeAll(async () => {
  writeFileSync(opening, genesisCsv())
  await exportDemo(csv)
})

describe('balances of the whole demo chain with opening balances from genesis', () => {
  testSample(
    1,
    [
      { format: 'csv', compression: 'none' },
      { format: 'parquet', compression: 'zstd' },
    ] as const,
    'equal the balances on the node, from $format',
    async (format) => {
      const output = format.format === 'csv' ? csv : parquet
      if (output === parquet) await exportDemo(parquet, format)
      const { balances: found } = await balances(output, { opening })
      const explained = found.filter(({ asset_address }) => !unreconcilable.includes(asset_address ?? ''))
      expect(valuesOf(explained)).toEqual(nodeBalances())
      expect(explained.length).toBeGreaterThan(1_000)
    },
  )

  test('equal the token balances on the node at each checkpoint block', { tags: ['long'] }, async () => {
    const blocks = Object.keys(Object.values(nodeData.erc20)[0]?.checkpoints ?? {})
    expect(blocks.length).toBeGreaterThan(4)
    for (const at of blocks) {
      const values = valuesOf((await balances(csv, { opening, at, all: true })).balances)
      for (const [token, { reconcilable, checkpoints }] of Object.entries(nodeData.erc20)) {
        for (const [wallet, value] of Object.entries(checkpoints[at] ?? {})) {
          const key = `${wallet}|erc20|${token}|`.toLowerCase()
          if (reconcilable) expect([at, key, values.get(key) ?? 0n]).toEqual([at, key, BigInt(value)])
        }
      }
    }
  })

  test('are negative for the two tokens whose events do not match their balances, with the likely cause', async () => {
    const { belowZero } = await balances(csv, { opening })
    const named = new Map(belowZero.map(({ asset_address, causes }) => [asset_address, causes.join()]))
    expect([...named.keys()].sort()).toEqual(unreconcilable.sort())
    expect([...named.values()].sort()).toEqual([
      expect.stringContaining('takes and pays coins without Transfer events'),
      expect.stringContaining('do not match its balances'),
    ])
  })

  test('report the first transaction after which a sum is negative', async () => {
    const { belowZero } = await balances(csv)
    const first = belowZero.find(({ asset_type }) => asset_type === 'native')
    const { block_number = 0, value_then, wallet_address = '', causes } = first ?? {}
    expect(causes).toEqual([expect.stringContaining('coins at genesis')])
    const at = (block: number) => balances(csv, { at: String(block), wallets: [wallet_address], all: true })
    const before = (await at(block_number - 1)).balances.find(({ asset_type }) => asset_type === 'native')
    expect(before?.value ?? 0n).toBeGreaterThanOrEqual(0n)
    expect((await at(block_number)).belowZero[0]).toMatchObject({ block_number, value_then })
  })

  test('are not reported as negative because of the order of rows within a transaction', async () => {
    const { belowZero } = await balances(csv, { opening })
    expect(belowZero.filter(({ asset_type }) => asset_type === 'native')).toEqual([])
  })
})

test('includes rows up to and including a block, a day or an instant', async () => {
  const rows = await readCsvTable(csv, 'ledger')
  const nativeSum = (some: typeof rows) =>
    some
      .filter(({ asset_type }) => asset_type === 'native')
      .reduce((sum, { value }) => sum + BigInt(value ?? ''), 0n)
  const middle = rows[rows.length >> 1]
  const [time = '', block = ''] = [middle?.block_timestamp, middle?.block_number]
  const [day] = time.split('T')
  const cases = [
    { at: block, holds: (row: (typeof rows)[number]) => Number(row.block_number) <= Number(block) },
    { at: time, holds: (row: (typeof rows)[number]) => `${row.block_timestamp}` <= time },
    {
      at: `${day}`,
      holds: (row: (typeof rows)[number]) => `${row.block_timestamp}`.slice(0, 10) <= `${day}`,
    },
  ]
  for (const { at, holds } of cases) {
    const { balances: found } = await balances(csv, { at })
    const native = found.filter(({ asset_type }) => asset_type === 'native')
    expect([at, native.reduce((sum, { value }) => sum + value, 0n)]).toEqual([
      at,
      nativeSum(rows.filter(holds)),
    ])
  }
  expect((await balances(csv, { at: '2023-11-13' })).balances).toEqual([])
  expect((await balances(csv, { at: '0' })).balances).toEqual([])
})

test.for([{ at: 'yesterday' }, { at: '2023-02-31' }, { at: '2023-11-14T22:30:00' }, { at: '-5' }])(
  'rejects the invalid position $at',
  async ({ at }) => {
    await expect(balances(csv, { at })).rejects.toMatchObject({
      code: 'USAGE',
      message: expect.stringContaining(at),
    })
  },
)

test('shifts the value by the decimals exactly, and returns no amount if these are unknown', async () => {
  const { balances: found } = await balances(csv)
  for (const { asset_type, value, amount } of found) {
    if (asset_type === 'native') expect(BigInt(`${amount}`.replace('.', '').padEnd(1))).toBeDefined()
    if (amount === null) expect(asset_type).not.toBe('native')
    else expect(Math.sign(Number(amount)) || 0).toBe(value < 0n ? -1 : value > 0n ? 1 : 0)
  }
  expect(found.filter(({ amount }) => amount === null).length).toBeGreaterThan(0)
})

test('rejects an export without a ledger table, with a fix, and an unknown wallet', async () => {
  const output = tempFolder()
  await exportDemo(output, { endBlock: 5, tables: ['transactions'] })
  await expect(balances(output)).rejects.toMatchObject({
    code: 'USAGE',
    fix: expect.stringContaining('ledger'),
  })
  await expect(balances(csv, { wallets: ['nobody'] })).rejects.toMatchObject({ code: 'USAGE' })
})

test('rejects a manifest whose coverage lacks a wallet of the ledger, or all wallets', {
  tags: ['long'],
}, async () => {
  const output = tempFolder()
  await exportDemo(output, { endBlock: 50 })
  const manifest = readManifest(output)
  const [first, ...others] = manifest.coverage
  const renamed = { ...first, address: `0x${'0'.repeat(39)}1` }
  for (const [coverage, says] of [
    [[renamed, ...others], `rows of ${first?.address}, which is not in the coverage`],
    [[], 'coverage: expected at least one wallet, found none'],
  ] as const) {
    writeFileSync(join(output, 'manifest.json'), JSON.stringify({ ...manifest, coverage }))
    await expect(balances(output)).rejects.toMatchObject({
      code: 'VERIFY_FAILED',
      message: expect.stringContaining(says),
    })
  }
})

describe('a file of expected balances', () => {
  const HEADER = 'wallet_address,asset_type,asset_address,token_id,value'
  const AMOUNTS = 'wallet_address,asset_type,asset_address,token_id,amount'
  const WALLET = `0x${'1'.repeat(40)}`
  const TOKEN = `0x${'2'.repeat(40)}`

  function fileOf(...lines: string[]): string {
    return tempFile('amounts.csv', lines.join('\n'))
  }

  test('is read by column name, in any order, and other columns are ignored', async () => {
    const path = fileOf(
      `note,value,token_id,asset_address,asset_type,wallet_address`,
      `"a, b",7,,,native,${WALLET}`,
    )
    const { compared, differences } = await compareExpected([], path)
    expect(compared).toBe(1)
    expect(differences).toEqual([
      expect.objectContaining({ line: 2, wallet_address: WALLET, expected: 7n, found: 0n }),
    ])
  })

  test('is compared to the last digit, and balances that it does not list are not compared', async () => {
    const { balances: found } = await balances(csv)
    const [first, second] = found.filter(({ asset_type }) => asset_type === 'erc20')
    const line = ({ wallet_address, asset_address, value }: Balance, more = 0n) =>
      `${wallet_address.toUpperCase().replace('0X', '0x')},erc20,${asset_address},,${value + more}`
    const path = fileOf(HEADER, line(first as Balance), line(second as Balance, 1n), '')
    expect(await compareExpected(found, path)).toEqual({
      compared: 2,
      unfilled: 0,
      differences: [
        expect.objectContaining({ line: 3, found: second?.value, expected: (second?.value ?? 0n) + 1n }),
      ],
    })
  })

  test.for([
    { what: 'no lines', lines: [], says: 'expected a header' },
    {
      what: 'missing columns',
      lines: ['wallet_address,value'],
      says: 'no column asset_type, asset_address, token_id',
    },
    {
      what: 'an unknown label',
      lines: [HEADER, 'me,native,,,1'],
      says: ':2: found wallet_address me, expected an address or a label of the job',
    },
    { what: 'an unknown asset type', lines: [HEADER, `${WALLET},coin,,,1`], says: 'asset_type coin' },
    {
      what: 'a contract for the native coin',
      lines: [HEADER, `${WALLET},native,${TOKEN},,1`],
      says: 'asset_address',
    },
    {
      what: 'a token without a contract',
      lines: [HEADER, `${WALLET},erc20,,,1`],
      says: 'asset_address empty',
    },
    {
      what: 'an NFT without its id',
      lines: [HEADER, `${WALLET},erc721,${TOKEN},,1`],
      says: 'token_id empty',
    },
    {
      what: 'neither the column value nor amount',
      lines: ['wallet_address,asset_type,asset_address,token_id', `${WALLET},native,,`],
      says: 'expected value, in the smallest unit, or amount, in whole units',
    },
    {
      what: 'no column of the wallet',
      lines: ['asset_type,asset_address,token_id,value', 'native,,,1'],
      says: 'expected wallet_address or wallet_label',
    },
    {
      what: 'an amount of a token with unknown decimals',
      lines: [AMOUNTS, `${WALLET},erc20,${TOKEN},,1`],
      says: 'amount 1, expected the column value',
    },
    {
      what: 'more decimals than the coin has',
      lines: [AMOUNTS, `${WALLET},native,,,0.1234567890123456789`],
      says: "expected no more than the asset's 18 decimals",
    },
    {
      what: 'an amount that is the rounded value',
      lines: [`${HEADER},amount`, `${WALLET},native,,,1000000000000000001,1`],
      says: 'expected the same quantity as the value 1000000000000000001',
    },
    { what: 'an exponent as the amount', lines: [AMOUNTS, `${WALLET},native,,,1e3`], says: 'amount 1e3' },
    { what: 'a value with a decimal point', lines: [HEADER, `${WALLET},native,,,1.5`], says: 'value 1.5' },
    { what: 'an exponent as the value', lines: [HEADER, `${WALLET},native,,,1e18`], says: 'value 1e18' },
    { what: 'an unclosed quote', lines: [HEADER, `"${WALLET},native,,,1`], says: 'quote' },
    {
      what: 'two lines for the same balance',
      lines: [HEADER, `${WALLET},native,,,1`, `${WALLET},native,,,1`],
      says: ':3: found the same wallet and asset as in line 2',
    },
  ])('is rejected if it has $what', async ({ lines, says }) => {
    await expect(compareExpected([], fileOf(...lines))).rejects.toMatchObject({
      code: 'USAGE',
      message: expect.stringContaining(says),
    })
  })

  test('is rejected if it does not exist', async () => {
    await expect(balances(csv, { opening: 'no/such.csv' })).rejects.toMatchObject({ code: 'USAGE' })
  })
})
