import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parse } from 'csv-parse/sync'
import { stringify } from 'csv-stringify/sync'
import { beforeAll, describe, expect, test } from 'vitest'
import { checkFile } from '../../src/accounting/check/check-file.ts'
import { convert } from '../../src/accounting/convert.ts'
import { mergeEqualRows } from '../../src/accounting/csv/merge-equal-rows.ts'
import { isCompared, type Preset } from '../../src/accounting/csv/preset.ts'
import { Remainders } from '../../src/accounting/csv/remainders.ts'
import { createRowWriter } from '../../src/accounting/csv/row-writer.ts'
import { PRESETS } from '../../src/accounting/formats.ts'
import { type ImportRow, importRowOf } from '../../src/accounting/import-rows.ts'
import { runCommand } from '../helpers/command.ts'
import { suiteFolder } from '../helpers/temp-folder.ts'
import { EQUAL_LINES } from './golden-chain.ts'
import { COIN, movement, token } from './made-up.ts'
import { exportMadeUp } from './made-up-export.ts'
import { ANN, BEN } from './made-up-transactions.ts'

const folder = suiteFolder()
const output = join(folder, 'export')
const LEDGER_ROWS = 11

beforeAll(() => exportMadeUp(output, EQUAL_LINES))

async function converted({ name: to }: Preset, perWallet = false) {
  const out = join(folder, perWallet ? `${to}-wallets` : to)
  const { lines, merged } = await convert(output, { to, out, perWallet, fees: 'separate' })
  const files = perWallet ? readdirSync(out).map((file) => join(out, file)) : [out]
  const rows = files.map((file): string[][] => parse(readFileSync(file)).slice(1))
  return { out, lines, merged, rows }
}

/** The cells of a line that a program may compare. */
const comparedCells = (preset: Preset, cells: readonly string[]) =>
  cells.filter((_, at) => isCompared(preset, preset.columns[at]?.[1] ?? 'note'))

const byHandling = (handling: Preset['equalLines']['handling']) =>
  PRESETS.filter(({ equalLines }) => equalLines.handling === handling)

describe.for(byHandling('merge'))('a file for $name', (preset) => {
  test.for([false, true])(
    'has no equal lines but for descriptions; one file per wallet: %s',
    async (perWallet) => {
      const { rows, lines, merged } = await converted(preset, perWallet)
      for (const ofFile of rows) {
        const compared = ofFile.map((cells) => JSON.stringify(comparedCells(preset, cells)))
        expect(new Set(compared).size).toBe(compared.length)
      }
      expect(merged).toBeGreaterThan(0)
      expect(lines + merged).toBe(LEDGER_ROWS)
    },
  )

  test('is refused by the check if a line is repeated with another description', async () => {
    const { out, rows } = await converted(preset)
    const [last = []] = rows[0]?.slice(-1) ?? []
    const again = last.map((cell, at) => (preset.columns[at]?.[1] === 'note' ? 'again' : cell))
    writeFileSync(out, `${readFileSync(out, 'utf8')}${stringify([again])}`)
    const problems: string[] = []
    await checkFile(out, preset.name, ({ what }) => problems.push(what))
    expect(problems).toEqual([expect.stringMatching(/^duplicate of line/)])
  })
})

test.for([...byHandling('keep'), ...byHandling('distinguish')])(
  'a file for $name has all lines',
  async (preset) => {
    const { rows, lines, merged } = await converted(preset)
    expect([rows[0]?.length, lines, merged]).toEqual([LEDGER_ROWS, LEDGER_ROWS, 0])
    if (preset.equalLines.handling === 'keep') return
    const compared = rows[0]?.map((cells) => JSON.stringify(comparedCells(preset, cells)))
    expect(new Set(compared).size).toBe(LEDGER_ROWS)
  },
)

test('Koinly gets the sum of equal lines, of all wallets in one file and of each wallet otherwise', async () => {
  const koinly = byHandling('merge').find(({ name }) => name === 'koinly') as Preset
  const amounts = ({ rows }: { rows: string[][][] }) =>
    rows.map((ofFile) => ofFile.flatMap(([, , , amount = '', asset]) => (asset === 'NULL1' ? [amount] : [])))
  // 5 and 5 are 10, which equals another line.
  expect(amounts(await converted(koinly))).toEqual([['20.0', '6.0', '7.0']])
  const { rows } = await converted(koinly, true)
  expect(amounts({ rows })).toEqual([['20.0', '3.0', '7.0'], ['3.0']])
  expect(rows[0]?.flat().filter((cell) => cell.includes('sum of 3 equal lines'))).toHaveLength(1)
})

test('Koinly gets the first label of equal lines, and the labels of all of them in the description', async () => {
  const labels = join(folder, 'labels.csv')
  const rules = [`wallet,type`, `${ANN},reward`, `${BEN},airdrop`]
  writeFileSync(labels, `${rules.join('\n')}\n`)
  const out = join(folder, 'labelled')
  await convert(output, { to: 'koinly', out, labels })
  const rows: Record<string, string>[] = parse(readFileSync(out), { columns: true })
  const sums = rows.filter(({ Description }) => Description?.includes('sum of'))
  expect(sums.map((row) => [row['Received Amount'], row.Label])).toEqual([
    ['20.0', 'reward'],
    ['6.0', 'reward'],
  ])
  expect(sums.map(({ Description = '' }) => Description.split(' / ').slice(-2))).toEqual([
    [expect.stringMatching(/^entry /), 'sum of 3 equal lines'],
    ['sum of 2 equal lines', 'types reward and airdrop'],
  ])
})

test('CoinTracker gets one line for equal amounts in two transactions of a second', async () => {
  const cointracker = byHandling('merge').find(({ name }) => name === 'cointracker') as Preset
  const { rows } = await converted(cointracker)
  const sent = rows[0]?.filter(([date]) => date?.startsWith('01/04/2024')).map(([, , , amount]) => amount)
  // The tokens received in a third transaction of the second are not the other side of a swap.
  // Two fees of 0.00125000000005, of which the fraction of a unit counts as one.
  expect(sent).toEqual(['0.00250001', '2', ''])
})

test('the command line counts merged lines', async () => {
  const { exit, stderr } = await runCommand([
    'convert',
    output,
    '--to',
    'tokentax',
    '--out',
    join(folder, 'counted'),
  ])
  expect({ exit, stderr }).toEqual({
    exit: 0,
    stderr: expect.stringContaining(
      '4 lines merged with identical ones, which tokentax may skip as duplicates',
    ),
  })
})

test.for([3, 4, 12])('%i rows of equal amounts become one with their sum', (count) => {
  const rows = Array.from({ length: count }, () => importRowOf(movement({ asset: COIN, value: 5n })))
  const amountOf = ({ out }: ImportRow) => String(out?.value)
  const merged = mergeEqualRows(rows, amountOf)
  expect(merged.map((row) => [amountOf(row), row.mergedRows?.length])).toEqual([[String(5 * count), count]])
})

test('a sum that equals other rows is merged with them', () => {
  const rows = [5n, 10n, 5n, 7n].map((value) => importRowOf(movement({ asset: COIN, value })))
  const amountOf = ({ out }: ImportRow) => String(out?.value)
  const merged = mergeEqualRows(rows, amountOf)
  expect(merged.map((row) => [amountOf(row), row.mergedRows?.length])).toEqual([
    ['20', 3],
    ['7', undefined],
  ])
})

test('a fee that equals a payment of its transaction becomes part of the payment', () => {
  const fee = importRowOf(movement({ asset: COIN, value: 5n, type: 'fee' }))
  const payment = importRowOf(movement({ asset: COIN, value: 5n }))
  expect(mergeEqualRows([fee, payment], () => 'the same cells')).toEqual([
    {
      ...payment,
      out: { asset: COIN, value: 10n },
      mergedRows: [fee, payment],
      movements: [...fee.movements, ...payment.movements],
    },
  ])
})

test('a payment to an own wallet is kept apart from an equal one only if the program compares counterparties', () => {
  const payment = movement({ asset: COIN, value: 5n * 10n ** 18n })
  const rows = [{ ...payment, counterparty: `0x${'c'.repeat(40)}`, isOwn: true }, payment]
  const apart = byHandling('merge').filter((preset) => {
    const { comparedCells: keyOf } = createRowWriter({
      preset,
      chainName: undefined,
      prices: undefined,
      coin: undefined,
      placeholderOf: () => 'NULL1',
      walletNameOf: (address: string) => address,
      refusalReasonOf: () => undefined,
      isPerWallet: false,
      remainders: new Remainders({}),
      onOmitted: () => {},
      onUnpriced: () => {},
    })
    return (
      mergeEqualRows(
        rows.map((one) => importRowOf(one)),
        keyOf,
      ).length === 2
    )
  })
  expect(apart.map(({ name }) => name)).toEqual(['cryptotaxcalculator', 'kryptos'])
})

test('rows of different assets or directions are not merged, even if their keys are equal', () => {
  const rows = [
    movement({ asset: COIN, value: 1n }),
    movement({ asset: COIN, value: 1n, isOut: false }),
    movement({ asset: COIN, value: 2n }),
    movement({ asset: token('USDC'), value: 1n }),
    movement({ asset: token('USDC'), value: 3n }),
  ].map((one) => importRowOf(one))
  expect(mergeEqualRows(rows, ({ in: received, out: sent }) => String((received ?? sent)?.value))).toEqual(
    rows,
  )
})
