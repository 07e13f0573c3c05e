import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parse } from 'csv-parse/sync'
import { expect, test } from 'vitest'
import { balances } from '../../src/ledger/balances/balances.ts'
import { runCommand } from '../helpers/command.ts'
import { exportListed, listedJob, startListing } from '../helpers/listed-items.ts'
import type { ListedItem } from '../helpers/listing-page.ts'
import { readManifest } from '../helpers/read-output.ts'
import { tempFolder } from '../helpers/temp-folder.ts'
import { ALICE, CAROL, erc20, item, party } from '../transform/items.ts'

const TOKEN = `0x${'4'.repeat(40)}`
const VALUE = `${10n ** 18n}`

/** A receipt of 10^18 smallest units, in a row with these decimals. */
const receipt = (block: number, decimals: number | null): ListedItem => {
  const hash = `0x${String(block).padStart(64, '0')}`
  const transfer = erc20({ from: party(CAROL), to: party(ALICE), value: VALUE }, { address: TOKEN, decimals })
  return item(
    { blockNumber: `${block}`, blockHash: `0xb${hash.slice(3)}`, txHash: hash, from: party(CAROL) },
    { erc20Transfers: [transfer] },
  )
}

/** 3 tokens by the rows with 18 decimals, and 10^18 by the last one. */
const AMOUNT = `${10n ** 18n + 3n}`

async function exportContradiction() {
  const listing = await startListing([11, 12, 13].map((block) => receipt(block, 18)))
  const job = listedJob(listing.url, {
    addresses: [ALICE],
    tables: ['erc20_transfers', 'transactions', 'ledger'],
  })
  const first = await exportListed(job)
  listing.items = [...listing.items, receipt(2_000, 0)]
  const second = await exportListed(job)
  return { job, counts: [first, second].map(({ manifest }) => manifest.decimalsConflict), ...second }
}

test('amounts add up by the decimals of each row in every command, which names the contradiction', async () => {
  const { job, counts, verdict } = await exportContradiction()
  expect([counts, verdict.problems]).toEqual([[undefined, 1], []])
  const { output } = job
  const [token] = (await balances(output)).balances.filter(({ asset_address }) => asset_address === TOKEN)
  expect(token).toMatchObject({ amount: AMOUNT, asset_decimals: 18 })

  const named = 'rows of 1 contract disagree on the decimals of a token'
  const period = ['--from', '2000-01-01', '--until', '2999-12-31']
  const stated = await runCommand(['statement', output, ...period, '--format', 'csv'])
  expect([stated.exit, stated.stderr]).toEqual([0, expect.stringContaining(named)])
  const lines: Record<string, string>[] = parse(stated.stdout, { columns: true })
  expect(lines.find((line) => line.asset_address === TOKEN)?.closing).toBe(AMOUNT)

  const out = join(tempFolder(), 'generic.csv')
  const converted = await runCommand(['convert', output, '--to', 'generic', '--out', out, '--strict'])
  expect([converted.exit, converted.stderr]).toEqual([6, expect.stringContaining(named)])
  const rows: Record<string, string>[] = parse(readFileSync(out), { columns: true })
  const received = rows.map((row) => row.received_amount).filter((amount) => amount !== '')
  expect(received).toEqual(['1', '1', '1', VALUE])

  for (const words of [
    ['balances', output],
    ['statement', output, ...period],
  ])
    expect((await runCommand([...words, '--strict'])).exit).toBe(6)
  expect((await runCommand(['status', output])).stdout).toContain(named)
  const page = join(tempFolder(), 'report.html')
  await runCommand(['report', output, '--out', page])
  expect(readFileSync(page, 'utf8')).toContain(named)

  const sum = `select sum(amount) as amount from ledger where asset_address = '${TOKEN}'`
  const queried = await runCommand(['query', output, sum, '--format', 'csv'])
  expect([queried.stdout, queried.stderr]).toEqual([`amount\n${AMOUNT}\n`, expect.stringContaining(named)])
})

test('rows without decimals contradict no other', async () => {
  const { url } = await startListing([receipt(11, 18), receipt(12, null)])
  const job = listedJob(url, { addresses: [ALICE] })
  expect((await exportListed(job)).verdict.problems).toEqual([])
  expect(readManifest(job.output).decimalsConflict).toBeUndefined()
  const [token] = (await balances(job.output)).balances.filter(({ asset_address }) => asset_address === TOKEN)
  expect(token).toMatchObject({ amount: '2', value: 2n * 10n ** 18n })
})
