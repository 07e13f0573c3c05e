import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { inflateRawSync } from 'node:zlib'
import { expect, test } from 'vitest'
import type { ComparisonData, PackedColumn } from '../../src/html-report/page-data.ts'
import { ROW_COLUMNS } from '../../src/html-report/recent-rows.ts'
import { report } from '../../src/html-report/report.ts'
import { tempFolder } from '../helpers/temp-folder.ts'
import { A, B, BIG, C, type Cells, goodLake, type Lake, X } from '../verify/export/model-export.ts'
import { type Writing, writeLake } from '../verify/export/write-model-export.ts'
import { tableOf } from './read-page.ts'

async function pageOf(lake: Lake, { names, ...writing }: Writing & { names?: string } = {}): Promise<string> {
  const output = join(tempFolder(), 'out')
  await writeLake(output, lake, writing)
  return readFileSync((await report([output], { names })).file, 'utf8')
}

/** Figure, name and remark of each tile, without thin spaces. */
const tilesOf = (page: string) =>
  [...page.matchAll(/<li><b>(.*?)<\/b><span>(.*?)<\/span><small>(.*?)<\/small>/g)].map((tile) =>
    tile.slice(1).map((html) => html.replaceAll('\u2009', '')),
  )

test.for([undefined, ['transactions', 'erc20_transfers'] as const])(
  'fees of 2^127 and more are summed exactly, with the tables %s',
  async (tables) => {
    const lake = goodLake()
    const [first, second] = [lake.transactions[3] as Cells, lake.transactions[4] as Cells]
    // Both were sent by wallets of the job; the first one failed.
    for (const one of [first, second]) one.transaction_fee = String(BIG)
    const page = await pageOf(lake, tables === undefined ? {} : { tables })
    expect(page).toContain(String(BIG / 10n ** 18n))
  },
)

const entryOf = (lake: Lake, given: Cells): Cells => ({ ...(lake.ledger[0] as Cells), ...given })

/** A ledger of one wallet with a movement of the native coin at each of these times. */
function coinLake(movements: readonly (readonly [time: string, value: string])[]): Lake {
  const lake = goodLake()
  lake.ledger = movements.map(([block_timestamp, value], at) =>
    entryOf(lake, {
      ...{ entry_id: String(at), block_timestamp, value, block_number: String(100 + at), wallet_address: A },
      ...{ entry_type: 'transfer', direction: value.startsWith('-') ? 'out' : 'in', amount: null },
    }),
  )
  return lake
}

function comparedIn(page: string): ComparisonData {
  return JSON.parse(/id="compare-0">(.*?)<\/script>/s.exec(page)?.[1] ?? '') as ComparisonData
}

test('two dates are compared with exact balances at day ends, year ends included', async () => {
  const days = Array.from({ length: 900 }, (_, at) =>
    new Date(Date.UTC(2021, 0, 1 + at)).toISOString().slice(0, 10),
  )
  const page = await pageOf(coinLake(days.map((day) => [`${day}T23:59:59.000Z`, '1'])))
  const { days: offered, assets } = comparedIn(page)
  const { points = [] } = assets[0]?.wallets[0] ?? {}
  const valueAt = (day: string) => Number(points[points.indexOf(offered.indexOf(day)) + 1])
  for (const day of ['2021-01-31', '2021-12-31', '2022-12-31', '2023-06-19'])
    expect(valueAt(day), day).toBe(days.indexOf(day) + 1)
  expect(offered[0]).toBe('2020-12-31')
})

test('each token id is counted once, regardless of how many wallets hold it and in how many rows it moved', async () => {
  const lake = goodLake()
  const mint = { entry_type: 'mint', direction: 'in', counterparty_address: null, asset_type: 'erc1155' }
  const movements = [
    [A, '5', '10'],
    [A, '5', '1'],
    [B, '5', '2'],
    [B, '6', '1'],
  ] as const
  lake.ledger = movements.map(([wallet_address, token_id, value], at) =>
    entryOf(lake, { ...mint, entry_id: String(at), asset_address: X, wallet_address, token_id, value }),
  )
  const [collection] = tableOf(await pageOf(lake), 'Collections')
  expect(collection?.slice(1)).toEqual(['4', '2', '0', '2', '#5 × 13 #6'])
})

test('the transactions tile states how many the export has, and how many of them moved nothing', async () => {
  const lake = goodLake()
  const moved = new Set(lake.ledger.map(({ transaction_hash }) => transaction_hash)).size
  const withoutMovement = {
    ...(lake.transactions[0] as Cells),
    transaction_hash: `0x${'ab'.repeat(32)}`,
    value: '0',
  }
  lake.transactions.push(withoutMovement)
  const [tile] = tilesOf(await pageOf(lake))
  const others = lake.transactions.length - moved
  expect(tile?.slice(0, 2)).toEqual([String(moved), 'transactions'])
  expect(tile?.[2]).toContain(`the export lists ${lake.transactions.length}, of which ${others} moved none`)
})

test('rows and the table of counterparties carry the names of wallets and counterparties', async () => {
  const folder = tempFolder()
  writeFileSync(join(folder, 'names.csv'), `address,name\n${X},The shop\n${C},Savings\n`)
  const page = await pageOf(goodLake(), { names: join(folder, 'names.csv') })
  const packed = /id="rows-0">(.*?)</.exec(page)?.[1] ?? ''
  const columns = JSON.parse(String(inflateRawSync(Buffer.from(packed, 'base64')))) as PackedColumn[]
  const textsOf = (name: (typeof ROW_COLUMNS)[number]) => {
    const { texts = [], indexes = [] } = columns[ROW_COLUMNS.indexOf(name)] ?? {}
    return indexes.map((index) => texts[index])
  }
  expect(columns).toHaveLength(ROW_COLUMNS.length)
  const wallets = textsOf('wallet')
  expect(textsOf('wallet label')).toEqual(wallets.map((one) => (one === C ? 'Savings' : expect.any(String))))
  const others = textsOf('counterparty')
  expect(others).toContain(X)
  expect(tableOf(page, 'Counterparties with the most transfers').flat()).toContain('The shop')
  for (const [at, label] of textsOf('counterparty label').entries())
    if (others[at] === X) expect(label).toBe('The shop')
})
