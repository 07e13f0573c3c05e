import { cpSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, test } from 'vitest'
import { type Balance, balances } from '../../../src/ledger/balances/balances.ts'
import { compareExpected } from '../../../src/ledger/balances/compare-expected.ts'
import { GOLDEN_CHAIN, WALLETS } from '../../accounting/golden-chain.ts'
import { exportMadeUp } from '../../accounting/made-up-export.ts'
import { suiteFolder, tempFile, tempFolder } from '../../helpers/temp-folder.ts'

const AMOUNTS = 'wallet_address,asset_type,asset_address,token_id,amount'
const output = join(suiteFolder(), 'out')
const [{ address: ANN = '', label: LABEL = '' } = {}] = WALLETS

beforeAll(() => exportMadeUp(output, GOLDEN_CHAIN))

function fileOf(...lines: string[]): string {
  return tempFile('amounts.csv', lines.join('\n'))
}

test('refuses a misspelt label and a decimal comma with what was probably meant', async () => {
  for (const [line, says] of [
    [
      '"Ann, mian",native,,,1',
      'Ann, mian, expected an address or a label of the job (did you mean Ann, main?)',
    ],
    [`${ANN},native,,,"1,5"`, 'found amount 1,5, expected a decimal point, as in 1.5'],
    [`${ANN},native,,,"10,000"`, 'found amount 10,000, expected digits without thousands separators'],
  ] as const)
    await expect(balances(output, { opening: fileOf(AMOUNTS, line) })).rejects.toMatchObject({
      message: expect.stringContaining(says),
    })
})

describe('an asset that cannot exist is refused, with its line', () => {
  test.for([
    { asset: `erc20,0x${'c'.repeat(39)},,1`, says: `asset_address 0x${'c'.repeat(39)}, expected a contract` },
    { asset: 'erc20,nonsense,,1', says: 'asset_address nonsense, expected a contract' },
    { asset: `native,0x${'c'.repeat(40)},,1`, says: 'expected nothing for native' },
    { asset: `erc721,0x${'7'.repeat(40)},010,1`, says: 'token_id 010, expected the id of an NFT' },
    { asset: `erc1155,0x${'7'.repeat(40)},0x10,1`, says: 'token_id 0x10, expected the id of an NFT' },
  ])('$asset', async ({ asset, says }) => {
    const file = fileOf(AMOUNTS, `${ANN},native,,,1`, `${ANN},${asset}`)
    const refusal = { code: 'USAGE', message: expect.stringContaining('amounts.csv:3: found ') }
    for (const read of [() => balances(output, { opening: file }), () => compareExpected([], file)]) {
      const error: Error = await read().then(
        () => Error('accepted'),
        (thrown) => thrown,
      )
      expect(error).toMatchObject(refusal)
      expect(error.message).toContain(says)
    }
  })
})

test('counts balances of assets without rows, and names their lines', async () => {
  const absent = { type: 'erc20', address: `0x${'1f'.repeat(20)}`, tokenId: null }
  const header = AMOUNTS.replace('amount', 'value,chain')
  const file = fileOf(
    header,
    `${ANN},native,,,1,`,
    `${ANN},erc20,${absent.address},,5,made`,
    `${ANN},native,,,7,1`,
  )
  const { balances: held, opening } = await balances(output, { opening: file })
  expect(held.find(({ asset_address }) => asset_address === absent.address)?.value).toBe(5n)
  expect(opening).toEqual({
    unfilled: 0,
    ofOtherChains: 1,
    withoutRows: [{ line: 3, wallet: ANN, asset: absent, value: 5n }],
  })
})

test('accepts expected balances with wallet labels and amounts in whole units', async () => {
  const { balances: found, wallets } = await balances(output, { all: true })
  const token = found.find(
    ({ wallet_address, asset_symbol }) => wallet_address === ANN && asset_symbol === 'USDC',
  ) as Balance
  const line = `"${LABEL}",erc20,${token.asset_address},,${token.amount}`
  const path = fileOf(
    AMOUNTS,
    `${line}${token.amount?.includes('.') ? '' : '.'}000`,
    `"${LABEL}",native,,,`,
    '',
  )
  expect(await compareExpected(found, path, wallets)).toEqual({ compared: 1, unfilled: 1, differences: [] })
  expect((await compareExpected(found, path)).compared).toBe(1)
  const labels = fileOf(AMOUNTS.replace('address', 'label'), `"${LABEL}",erc20,${token.asset_address},,0.5`)
  expect((await compareExpected(found, labels)).differences).toMatchObject([
    { wallet_address: ANN, expected: 500_000n, found: token.value },
  ])
  const twice = WALLETS.map(({ address }) => ({ address, label: LABEL }))
  await expect(compareExpected(found, labels, twice)).rejects.toMatchObject({
    message: expect.stringContaining('expected an address, since 2 wallets have that label'),
  })
})

test('adds opening balances with wallet labels and amounts in whole units exactly', async () => {
  const sumsWith = async (file?: string) => {
    const { balances: found, opening } = await balances(output, { all: true, opening: file })
    const value = (symbol: string) =>
      found.find(({ wallet_address, asset_symbol }) => wallet_address === ANN && asset_symbol === symbol)
        ?.value ?? 0n
    return { coin: value('AVAX'), dollars: value('USDC'), unfilled: opening.unfilled }
  }
  const before = await sumsWith()
  const usdc = `0x${'c'.repeat(40)}`
  const path = fileOf(
    AMOUNTS,
    `"${LABEL}",native,,,10000.000000000000000001`,
    `"${LABEL}",erc20,${usdc},,-2.5`,
    `${ANN},erc20,0x${'e'.repeat(40)},,`,
  )
  expect(await sumsWith(path)).toEqual({
    coin: before.coin + 10_000n * 10n ** 18n + 1n,
    dollars: before.dollars - 2_500_000n,
    unfilled: 1,
  })
})

describe('a line with the address of another wallet', () => {
  const OTHER = `0x${'3'.repeat(40)}`
  const [, { address: BOB = '' } = {}] = WALLETS
  const refusal = (expected: string, address = OTHER) => ({
    code: 'USAGE',
    message: expect.stringMatching(
      new RegExp(`amounts\\.csv:3: found wallet_address ${address}, expected ${expected}$`),
    ),
  })
  const lineOf = (address: string) => fileOf(AMOUNTS, `${ANN},native,,,1`, `${address},native,,,10000`)

  test('is refused in a file of opening balances', async () => {
    const opening = lineOf(OTHER)
    await expect(balances(output, { opening })).rejects.toMatchObject(
      refusal('the address of a wallet of the export'),
    )
    const selected = await balances(output, { opening: lineOf(BOB), wallets: [ANN] })
    expect(selected.wallets).toMatchObject([{ address: ANN }])
  })

  test('is refused in a file of expected balances', async () => {
    const { balances: found, wallets } = await balances(output, { all: true, wallets: [ANN] })
    for (const address of [OTHER, BOB])
      await expect(compareExpected(found, lineOf(address), wallets)).rejects.toMatchObject(
        refusal('the address of a wallet whose balances were computed', address),
      )
    expect((await compareExpected(found, lineOf(OTHER))).differences).toHaveLength(2)
  })

  test('is accepted if the job no longer contains the wallet', async () => {
    const copy = join(tempFolder(), 'out')
    cpSync(output, copy, { recursive: true })
    const path = join(copy, 'manifest.json')
    const manifest = JSON.parse(readFileSync(path, 'utf8')) as { coverage: { address: string }[] }
    const coverage = manifest.coverage.map((one) => (one.address === BOB ? { ...one, removed: true } : one))
    writeFileSync(path, JSON.stringify({ ...manifest, coverage }))
    const { balances: found } = await balances(copy, { opening: lineOf(BOB), all: true })
    expect(found.filter(({ wallet_address }) => wallet_address === BOB)).not.toEqual([])
  })
})
