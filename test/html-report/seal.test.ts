import { createHash } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { report } from '../../src/html-report/report.ts'
import { tempFile, tempFolder } from '../helpers/temp-folder.ts'
import { A, B, BIG, C, type Cells, goodLake, type Lake, X } from '../verify/export/model-export.ts'
import { writeLake } from '../verify/export/write-model-export.ts'
import { activityIn, sectionOf, tableOf, textOf } from './read-page.ts'

/** Writes an export and the verdict of `reconcile` on it, and returns the report. */
async function pageOf(
  lake: Lake,
  { names, verdict }: { names?: string; verdict?: Verdict } = {},
): Promise<string> {
  const output = join(tempFolder(), 'out')
  await writeLake(output, lake, {})
  if (verdict !== undefined) writeVerdict(output, verdict)
  return readFileSync((await report([output], { names })).file, 'utf8')
}

type Verdict = { native?: number; exported?: number; isCurrent?: boolean; differing?: Partial<Cells>[] }

function writeVerdict(
  output: string,
  { native = 2, exported = 2, isCurrent = true, differing = [] }: Verdict,
): void {
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
    balances: { native: kind, erc20: { ...kind, different: differing.length }, erc721: kind, erc1155: kind },
    skipped: [],
    differences: differing.map((one) => ({
      wallet_address: A,
      wallet_label: null,
      asset_type: 'erc20',
      asset_symbol: null,
      token_id: null,
      ledger_value: '1',
      service_value: '2',
      difference: '1',
      likely_cause: null,
      ...one,
    })),
  }
  writeFileSync(join(output, 'reconciliation.json'), JSON.stringify(verdict))
}

const sealOf = (page: string) => /<p class="seal (good|bad)">(.*?)<\/p>/.exec(page)?.slice(1).map(textOf)
const COMPLETE = '✓ Complete every page was read, no record was rejected'

test.for([
  [{}, 'good', `${COMPLETE} · 2 of 2 wallets reconciled at block 420, compared on 2 Jan 2026`],
  [
    { native: 1, exported: 3 },
    'bad',
    '! Complete every page was read, no record was rejected · 1 of 2 wallets reconciled at block 420, compared on 2 Jan 2026 · 2 of 3 wallets compared',
  ],
  [
    { isCurrent: false },
    'bad',
    '! Complete every page was read, no record was rejected · 2 of 2 wallets reconciled at block 420, compared on 2 Jan 2026 · a later run changed the export',
  ],
] as const)('the seal states whether the balances were reconciled: %j', async ([verdict, kind, text]) => {
  expect(sealOf(await pageOf(goodLake(), { verdict }))).toEqual([kind, text])
})

test('the seal states that the balances were not reconciled', async () => {
  const [kind, text] = sealOf(await pageOf(goodLake())) ?? []
  expect([kind, text]).toEqual([
    'good',
    expect.stringContaining('not yet compared with the balances of the service'),
  ])
})

/** A ledger in which wallet A holds 5 of a token. */
function lakeWithToken(address: string, symbol: string): Lake {
  const lake = goodLake()
  const token = {
    asset_type: 'erc20',
    asset_address: address,
    asset_symbol: symbol,
    asset_decimals: '0',
    value: '5',
    amount: '5',
  }
  const row = lake.ledger[0] as Cells
  lake.ledger = [
    { ...row, ...token, wallet_address: A, entry_type: 'transfer', direction: 'in', entry_id: 'token' },
  ]
  return lake
}

test('a token whose balance the service reports otherwise is in no total, and the seal does not repeat it', async () => {
  const page = await pageOf(lakeWithToken(X, 'FOT'), { verdict: { differing: [{ asset_address: X }] } })
  expect(sealOf(page)?.[1]).toBe(
    `${COMPLETE} · 2 of 2 wallets reconciled at block 420, compared on 2 Jan 2026`,
  )
  expect(tableOf(page, 'Holdings').map(([name]) => name)).not.toContain(`FOT ${X}`)
  expect(tableOf(page, 'In no total')).toEqual([
    [`FOT ${X}`, '5', expect.stringContaining('another balance')],
  ])
})

test('a rebasing token is named as such, not as spam, and is in no total', async () => {
  const aUsdc = '0x625e7708f30ca75bfd92586e17077590c60eb4cd'
  const page = await pageOf(lakeWithToken(aUsdc, 'claim at aave.com'))
  expect(tableOf(page, 'In no total')).toEqual([
    [`claim at aave.com ${aUsdc}`, '5', expect.stringContaining('rebasing')],
  ])
  expect(textOf(sectionOf(page, 'worth'))).toContain('their balances change without transfers')
})

test('fees beyond 2^127 are summed exactly', async () => {
  const lake = goodLake()
  const paid = lake.ledger.filter(({ entry_type }) => entry_type === 'fee')
  for (const row of paid) {
    row.value = `-${BIG}`
    row.amount = null
  }
  expect(paid.length).toBeGreaterThan(0)
  const page = await pageOf(lake)
  expect(page).toContain(String((BIG * BigInt(paid.length)) / 10n ** 18n))
})

test('each token id is listed once, with the units that all wallets hold, and ids are sorted as numbers', async () => {
  const lake = goodLake()
  const movements = [
    [A, '5', '10'],
    [A, '10', '1'],
    [B, '5', '2'],
    [B, '9', '1'],
  ] as const
  lake.ledger = movements.map(([wallet_address, token_id, value], at) => ({
    ...(lake.ledger[0] as Cells),
    entry_type: 'mint',
    direction: 'in',
    counterparty_address: null,
    asset_type: 'erc1155',
    asset_address: X,
    entry_id: String(at),
    wallet_address,
    token_id,
    value,
    amount: null,
  }))
  const [collection] = tableOf(await pageOf(lake), 'NFTs')
  expect(collection?.slice(1)).toEqual(['4', '0', '3', '#5 × 12 #9 #10'])
})

test('transactions and the table of counterparties carry the names of wallets and counterparties', async () => {
  const names = tempFile('names.csv', `address,name\n${X},The shop\n${C},Savings\n`)
  const page = await pageOf(goodLake(), { names })
  const parties = new Map(activityIn(page).parties)
  expect([parties.get(X), parties.get(C)]).toEqual(['The shop', 'Savings'])
  expect(tableOf(page, 'Counterparties')[0]?.slice(0, 2)).toEqual(['The shop', X])
})
