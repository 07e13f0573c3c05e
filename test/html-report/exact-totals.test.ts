import { createHash } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { inflateRawSync } from 'node:zlib'
import { expect, test } from 'vitest'
import type { ComparisonData, PackedColumn } from '../../src/html-report/page-data.ts'
import { ROW_COLUMNS } from '../../src/html-report/recent-rows.ts'
import { report } from '../../src/html-report/report.ts'
import { tempFolder } from '../helpers/temp-folder.ts'
import { A, B, BIG, C, type Cells, COIN, goodLake, type Lake, X } from '../verify/export/model-export.ts'
import { type Writing, writeLake } from '../verify/export/write-model-export.ts'
import { cellText, tableOf, totalsOf } from './read-page.ts'

async function pageOf(
  lake: Lake,
  { names, prices, ...writing }: Writing & { names?: string; prices?: string } = {},
): Promise<string> {
  const output = join(tempFolder(), 'out')
  await writeLake(output, lake, writing)
  return readFileSync((await report([output], { names, prices })).file, 'utf8')
}

/** Figure, name and remark of each tile, without thin spaces. */
const tilesOf = (page: string) =>
  [...page.matchAll(/<li><b>(.*?)<\/b><span>(.*?)<\/span><small>(.*?)<\/small>/g)].map((tile) =>
    tile.slice(1).map((html) => html.replaceAll('\u202f', '')),
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
      entry_id: String(at),
      block_timestamp,
      value,
      block_number: String(100 + at),
      wallet_address: A,
      entry_type: 'transfer',
      direction: value.startsWith('-') ? 'out' : 'in',
      amount: null,
    }),
  )
  return lake
}

function comparedIn(page: string): ComparisonData {
  return JSON.parse(/id="compare-0">(.*?)<\/script>/s.exec(page)?.[1] ?? '') as ComparisonData
}

test('the value at the end of a day is that of its balance at its price, and unknown without one', async () => {
  const days = ['2024-01-01', '2024-01-05', '2024-01-06']
  const lake = coinLake(days.map((day) => [`${day}T12:00:00.000Z`, '1500000000000000000']))
  const prices = join(tempFolder(), 'prices.csv')
  writeFileSync(prices, 'date,asset,currency,price\n2024-01-01,native,EUR,2\n2024-01-06,native,EUR,3.5\n')
  const rows = tableOf(await pageOf(lake, { prices }), 'Value in EUR at the ends of days')
  expect(rows).toEqual([
    ['2023-12-31', '0'],
    ['2024-01-01', '3'],
    ['2024-01-05', '–'],
    ['2024-01-06', '15.75'],
  ])
})

test('the value over time is that of the assets with prices, and names the others', async () => {
  const days = ['2024-01-01', '2024-01-02', '2024-01-03']
  const lake = coinLake(days.map((day) => [`${day}T12:00:00.000Z`, '1000000000000000000']))
  const token = {
    asset_type: 'erc20',
    asset_address: X,
    asset_symbol: 'PART',
    asset_decimals: '0',
    value: '5',
  }
  lake.ledger.splice(1, 0, { ...(lake.ledger[0] as Cells), ...token, entry_id: 'token' })
  const prices = join(tempFolder(), 'prices.csv')
  const valuesWith = async (lines: readonly string[]) => {
    writeFileSync(prices, ['date,asset,currency,price', ...lines, ''].join('\n'))
    const page = await pageOf(lake, { prices })
    const [section = ''] = page.split('<section id="value">')[1]?.split('</section>') ?? []
    const rows = tableOf(page, 'Value in EUR at the ends of days')
    return { values: rows.map(([, value]) => value), names: section.includes('>PART<') }
  }
  const coin = days.map((day) => `${day},native,EUR,2`)
  const part = days.map((day) => `${day},${X},EUR,1`)
  expect(await valuesWith([...coin, ...part])).toEqual({ values: ['0', '7', '9', '11'], names: false })
  expect(await valuesWith([...coin, ...part.slice(0, 1)])).toEqual({
    values: ['0', '2', '4', '6'],
    names: true,
  })
  expect(await valuesWith(['2001-01-01,native,EUR,2'])).toEqual({ values: [], names: true })
})

test('the figures at the top leave out the values of suspicious tokens, as the totals do, and say so', async () => {
  const lake = coinLake([
    ['2023-12-31T12:00:00.000Z', '2000000000000000000'],
    ['2024-12-31T12:00:00.000Z', '1000000000000000000'],
  ])
  const token = { asset_type: 'erc20', asset_decimals: '0', value: '5' }
  const [first, second] = lake.ledger as [Cells, Cells]
  const spam = { ...token, asset_address: X, asset_symbol: 'claim at gift.com', entry_id: 'spam' }
  const good = { ...token, asset_address: COIN, asset_symbol: 'GOOD', entry_id: 'good' }
  lake.ledger = [first, { ...first, ...spam }, second, { ...second, ...good, wallet_address: B }]
  const prices = join(tempFolder(), 'prices.csv')
  const lines = ['2023-12-31', '2024-12-31'].flatMap((day) => [
    `${day},native,EUR,2`,
    `${day},${X},EUR,1000`,
    `${day},${COIN},EUR,3`,
  ])
  writeFileSync(prices, ['date,asset,currency,price', ...lines, ''].join('\n'))
  const page = await pageOf(lake, { prices })
  const link = 'without <a href="#suspicious">1 suspicious token</a>'
  const tiles = tilesOf(page).map(([figure = '', ...texts]) => [cellText(`>${figure}`), ...texts])
  expect(tiles).toContainEqual([
    '21',
    'EUR held now',
    expect.stringContaining(`2 of 2 assets with a price, ${link};`),
  ])
  expect(tiles).toContainEqual(['21', 'EUR at the end of 2024', expect.stringContaining(`${link}; 2023: `)])
  expect(page).toMatch(
    new RegExp(`are worth <span[^>]*>21.00</span> EUR \\(2 of 2 assets with a price, ${link}`),
  )
  expect(page).toContain('1 token with 1 movement looks suspicious')
  const [wallets, assets] = [totalsOf(page, 'AVAX by wallet'), totalsOf(page, 'Movements by asset')]
  expect([wallets[5], assets[0], assets[6]]).toEqual(['21', 'Total without suspicious tokens', '21'])
  expect(tableOf(page, 'AVAX by wallet').map((cells) => cells[5])).toEqual(['6', '15'])
  expect(tableOf(page, 'Value in EUR at the ends of days').at(-1)).toEqual(['2024-12-31', '21'])
  expect(totalsOf(page, 'Values of 2023 in EUR').at(-1)).toBe('4')
  const [shown = ''] = page.split('<div id="suspicious">')[1]?.split('</div>') ?? []
  expect(tableOf(shown, 'Suspicious tokens').map((cells) => cells[6])).toEqual(['5000'])
})

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

test('transfers between own wallets count once, and what a wallet sent to itself neither there nor as funding', async () => {
  const lake = goodLake()
  const moved = { asset_type: 'native', asset_address: null, token_id: null, counterparty_is_own: 'true' }
  const movements = [
    [A, A, '-5', 'self'],
    [A, A, '5', 'self'],
    [A, B, '-7', 'transfer'],
    [B, A, '7', 'transfer'],
  ] as const
  lake.ledger = movements.map(([wallet_address, counterparty_address, value, entry_type], at) =>
    entryOf(lake, {
      ...moved,
      entry_id: String(at),
      wallet_address,
      counterparty_address,
      value,
      entry_type,
      direction: value.startsWith('-') ? 'out' : 'in',
    }),
  )
  const page = await pageOf(lake)
  expect(tableOf(page, 'Transfers between own wallets')).toHaveLength(1)
  expect(totalsOf(page, 'Transfers between own wallets').at(-1)).toBe('1')
  expect(page).toContain('The 4 movements between own wallets of the')
  const funders = tableOf(page, 'Activity by wallet').map((cells) => cells[8])
  expect(funders.filter((text) => text !== '–')).toHaveLength(1)
})

test.for([
  {
    native: 2,
    exported: 2,
    isCurrent: true,
    figure: '✓ 2 of 2',
    remark: 'at block 420, in the native coin',
    text: '2 of 2 wallets reconciled at block 420.',
  },
  {
    native: 1,
    exported: 3,
    isCurrent: true,
    figure: '! 1 of 2',
    remark: 'selected 2 of the 3 wallets of the',
    text: '1 of 2 wallets reconciled at block 420; selected 2 of the 3 wallets of the export.',
  },
  {
    native: 2,
    exported: 2,
    isCurrent: false,
    figure: '! 2 of 2',
    remark: 'out of date: a later run changed',
    text: '2 of 2 wallets reconciled at block 420; out of date: a later run changed the export.',
  },
  {
    native: 2,
    exported: 2,
    isCurrent: true,
    differentTokens: 1,
    figure: '✓ 2 of 2',
    remark: '1 token balance differs',
    text: '2 of 2 wallets reconciled at block 420 in the native coin; 1 token balance differs.',
  },
])(
  'a tile and a sentence state whether the balances were reconciled: $text',
  async ({ native, exported, isCurrent, differentTokens: different = 0, ...expected }) => {
    const output = join(tempFolder(), 'out')
    await writeLake(output, goodLake(), {})
    const manifest = createHash('sha256')
      .update(readFileSync(join(output, 'manifest.json')))
      .digest('hex')
    const kind = { compared: 1, different: 0 }
    const verdict = {
      reconciliationVersion: 1,
      time: '2026-01-02T03:04:05.000Z',
      ok: native === 2,
      block: 420,
      wallets: { exported, selected: 2, compared: native, nativeReconciled: native, reconciled: native },
      manifestSha256: isCurrent ? manifest : '0'.repeat(64),
      genesisWallets: 0,
      requests: 1,
      balances: { native: kind, erc20: { ...kind, different }, erc721: kind, erc1155: kind },
      skipped: [],
      differences: [],
    }
    writeFileSync(join(output, 'reconciliation.json'), JSON.stringify(verdict))
    const page = readFileSync((await report([output])).file, 'utf8')
    const tiles = tilesOf(page)
    const [figure = '', , remark] = tiles.find(([, name]) => name === 'wallets reconciled') ?? []
    expect(cellText(`>${figure}`)).toBe(expected.figure)
    expect(remark).toContain(expected.remark)
    expect(page).toContain(`Reconciliation of 2026-01-02 03:04 UTC: ${expected.text}`)
  },
)

test('a tile states that the balances were not reconciled', async () => {
  const tiles = tilesOf(await pageOf(goodLake()))
  expect(tiles.map(([figure, name]) => `${figure} ${name}`)).toContain('not yet reconciled')
})

test('the units of each ERC-1155 id are stated by how they moved', async () => {
  const lake = goodLake()
  const movements = [
    ['mint', 'in', '10'],
    ['mint', 'in', '1'],
    ['transfer', 'out', '-4'],
    ['transfer', 'in', '2'],
    ['burn', 'out', '-3'],
  ] as const
  const id = String(2n ** 256n - 1n)
  lake.ledger = movements.map(([entry_type, direction, value], at) =>
    entryOf(lake, {
      entry_id: String(at),
      entry_type,
      direction,
      value,
      asset_type: 'erc1155',
      asset_address: X,
      wallet_address: A,
      token_id: id,
      counterparty_address: null,
    }),
  )
  const [units] = tableOf(await pageOf(lake), 'Units of ERC-1155 ids')
  expect(units?.slice(1)).toEqual([`#${id}`, '11', '2', '4', '3', '6'])
})

test('ERC-1155 ids are sorted as numbers', async () => {
  const lake = goodLake()
  const erc1155 = { entry_type: 'mint', direction: 'in', asset_type: 'erc1155', asset_address: X, value: '1' }
  lake.ledger = ['10', '10', '9', '2', '100'].map((token_id, at) =>
    entryOf(lake, {
      ...erc1155,
      entry_id: String(at),
      wallet_address: A,
      token_id,
      counterparty_address: null,
    }),
  )
  const units = tableOf(await pageOf(lake), 'Units of ERC-1155 ids')
  expect(units.map(([, id]) => id)).toEqual(['#2', '#9', '#10', '#100'])
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
  const tile = tilesOf(await pageOf(lake)).find(([, name]) => name === 'transactions')
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
