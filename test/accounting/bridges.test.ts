import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parse } from 'csv-parse/sync'
import { beforeAll, expect, test } from 'vitest'
import { convert } from '../../src/accounting/convert.ts'
import type { ConvertOptions } from '../../src/accounting/options.ts'
import type { JsonObject } from '../../src/demo-server/json.ts'
import { runCommand } from '../helpers/command.ts'
import { suiteFolder, tempFile, tempFolder } from '../helpers/temp-folder.ts'
import { exportMadeUp } from './made-up-export.ts'
import { ANN, address, BEN, createChain } from './made-up-transactions.ts'

const folder = suiteFolder()
const [AVALANCHE, ETHEREUM] = [join(folder, 'avalanche'), join(folder, 'ethereum')] as [string, string]
const USDC = { name: 'USD Coin', symbol: 'USDC', decimals: 6 }
const ON_AVALANCHE = { ...USDC, address: '0xb97ef9ef8734c71904d8002f8b6bc66dd9c48a6e' }
const ON_ETHEREUM = { ...USDC, address: '0xa0b86991c6218b36c1d19d4a2e9eb0ce3606eb48' }
const [BRIDGE, RELAYER, SHOP] = [address('1'), address('2'), address('3')] as [string, string, string]
const ACROSS = '0x5c7bcd6e7de5423a257d81b442095a1a6ced35c5'
const DOLLAR = 1_000_000n

function avalancheChain(): JsonObject[] {
  const { transaction, erc20 } = createChain()
  const send = (at: string, to: string, dollars: bigint, method: string) =>
    transaction(
      { at, parties: [ANN, to], method },
      { erc20: [erc20(ON_AVALANCHE, [ANN, to], dollars * DOLLAR)] },
    )
  return [
    transaction(
      { at: '2024-01-01T00:00:00Z', parties: [SHOP, ANN], value: 10n ** 18n },
      { erc20: [erc20(ON_AVALANCHE, [SHOP, ANN], 9_000n * DOLLAR)] },
    ),
    // To the same wallet, by a method of a bridge, less a fee of 1.5.
    send('2024-02-01T10:00:00Z', BRIDGE, 1_000n, 'depositV3(…)'),
    // To another own wallet, less nothing.
    send('2024-02-02T10:00:00Z', BRIDGE, 500n, 'bridgeTokens(…)'),
    // A payment that nothing answers in time.
    send('2024-02-03T10:00:00Z', SHOP, 700n, 'transfer(…)'),
    // Two equal transfers: which one arrived is unknown.
    send('2024-02-10T10:00:00Z', BRIDGE, 300n, 'bridgeTokens(…)'),
    send('2024-02-10T10:05:00Z', BRIDGE, 300n, 'bridgeTokens(…)'),
    // To another own wallet, which a contract of Across pays.
    send('2024-03-01T10:00:00Z', SHOP, 40n, 'send(…)'),
  ]
}

function ethereumChain(): JsonObject[] {
  const { transaction, erc20 } = createChain()
  const receive = (at: string, to: string, units: bigint, from = RELAYER) =>
    transaction({ at, parties: [RELAYER, from] }, { erc20: [erc20(ON_ETHEREUM, [from, to], units)] })
  return [
    receive('2024-02-01T10:03:00Z', ANN, 998_500_000n),
    receive('2024-02-02T11:00:00Z', BEN, 500n * DOLLAR),
    receive('2024-02-03T22:00:00Z', ANN, 699n * DOLLAR),
    receive('2024-02-10T10:10:00Z', ANN, 299n * DOLLAR),
    receive('2024-03-01T10:02:00Z', BEN, 39_900_000n, ACROSS),
  ].map(({ nativeTransaction, ...entries }) => ({
    nativeTransaction: { ...nativeTransaction, chainId: '1' },
    ...entries,
  }))
}

beforeAll(async () => {
  await exportMadeUp(AVALANCHE, avalancheChain(), '43114')
  await exportMadeUp(ETHEREUM, ethereumChain(), '1', { nativeSymbol: 'ETH' })
})

async function convertBoth(options: Partial<ConvertOptions> = {}) {
  const parts: string[] = []
  const write = (text: string) => void parts.push(text)
  const result = await convert([AVALANCHE, ETHEREUM], { to: 'generic', write, ...options })
  const rows: Record<string, string>[] = parse(parts.join(''), { columns: true })
  return { ...result, rows }
}

test('pairs what left one chain with what arrived on another, and leaves what is unsure', async () => {
  const { bridges } = await convertBoth({ matchBridges: true })
  expect(
    bridges.map(({ sent, received, confidence, arrived }) => [
      sent.time.slice(0, 10),
      received.wallet,
      confidence,
      sent.value - arrived,
    ]),
  ).toEqual([
    ['2024-02-01', ANN, 'high', 1_500_000n],
    ['2024-02-02', BEN, 'high', 0n],
    ['2024-03-01', BEN, 'high', 100_000n],
  ])
})

test('both sides become own transfers, and sums change by nothing', async () => {
  const [plain, matched] = [await convertBoth(), await convertBoth({ matchBridges: true })]
  expect([matched.movements, matched.split]).toEqual([plain.movements, 2])
  expect(matched.rows).toHaveLength(plain.rows.length + 2)
  const totals = ({ rows }: typeof plain) => {
    const sums = new Map<string, number>()
    const add = (asset = '', amount = '', sign = 1) =>
      amount !== '' && sums.set(asset, (sums.get(asset) ?? 0) + sign * Math.round(Number(amount) * 1e6))
    for (const row of rows) {
      add(row.received_asset, row.received_amount)
      add(row.sent_asset, row.sent_amount, -1)
    }
    return Object.fromEntries(sums)
  }
  expect(totals(matched)).toEqual(totals(plain))
  const own = matched.rows.filter((row) =>
    Object.values(row).some((cell) => cell.includes('between own wallets')),
  )
  expect(own).toHaveLength(6)
  const fees = matched.rows.filter((row) => Object.values(row).some((cell) => cell === '1.5'))
  expect(fees).toHaveLength(1)
})

test('a label of one of the transactions prevents a pair', async () => {
  const { bridges } = await convertBoth({ matchBridges: true })
  const labels = tempFile('labels.csv', `transaction,type\n${bridges[0]?.received.transaction},gift\n`)
  const kept = await convertBoth({
    to: 'koinly',
    map: join(tempFolder(), 'map.csv'),
    matchBridges: true,
    labels,
  })
  expect(kept.bridges).toHaveLength(2)
})

test('the command lists the pairs, and refuses one chain and rp2', async () => {
  const out = join(tempFolder(), 'both.csv')
  const args = ['convert', AVALANCHE, ETHEREUM, '--to', 'generic', '--match-bridges']
  const { exit, stderr } = await runCommand([...args, '--out', out])
  expect(exit).toBe(0)
  expect(stderr).toContain('3 transfers between chains matched: check them')
  const pairs = parse(readFileSync(`${out}.bridges.csv`, 'utf8'), { columns: true })
  expect(pairs[0]).toMatchObject({
    confidence: 'high',
    asset: 'USDC',
    sent: '1000',
    received: '998.5',
    fee: '1.5',
  })
  const later = await runCommand([...args, '--out', out, '--from', '2040-01-01'])
  expect(later).toMatchObject({
    exit: 0,
    stderr: expect.stringContaining('0 transfers between chains matched'),
  })
  expect(existsSync(`${out}.bridges.csv`)).toBe(false)
  const alone = await runCommand(['convert', AVALANCHE, '--to', 'generic', '--match-bridges'])
  expect(alone).toMatchObject({ exit: 2, stderr: expect.stringContaining('exports of several chains') })
  const rp2 = await convertBoth({ to: 'rp2', out: join(tempFolder(), 'rp2'), matchBridges: true }).catch(
    (error: unknown) => error,
  )
  expect(rp2).toMatchObject({ code: 'USAGE' })
})
