import { existsSync, lstatSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { inflateRawSync } from 'node:zlib'
import { beforeAll, describe, expect, test } from 'vitest'
import { AMOUNTS } from '../../src/accounting/statement/flows.ts'
import { statement } from '../../src/accounting/statement/statement.ts'
import { report } from '../../src/html-report/report.ts'
import { balances } from '../../src/ledger/balances/balances.ts'
import { runCommand } from '../helpers/command.ts'
import { exportDemo } from '../helpers/demo-export.ts'
import { makeNamedPipe } from '../helpers/named-pipe.ts'
import { readCsvTable, readManifest, type TextRow } from '../helpers/read-output.ts'
import { suiteFolder } from '../helpers/temp-folder.ts'
import { cellText, tableOf, totalsOf } from './read-page.ts'

const folder = suiteFolder()
const outputs = { csv: join(folder, 'csv'), parquet: join(folder, 'parquet') }
const pages = { csv: '', parquet: '' }
let ledger: TextRow[] = []

beforeAll(async () => {
  await exportDemo(outputs.csv, { endBlock: 30 })
  await exportDemo(outputs.parquet, { endBlock: 30, format: 'parquet', compression: 'zstd' })
  ledger = await readCsvTable(outputs.csv, 'ledger')
  for (const format of ['csv', 'parquet'] as const) {
    const { file } = await report([outputs[format]])
    pages[format] = readFileSync(file, 'utf8')
  }
})

function rowsIn(page: string): string[][] {
  const packed = /id="rows-0">([^<]*)</.exec(page)?.[1] ?? ''
  const columns = JSON.parse(inflateRawSync(Buffer.from(packed, 'base64')).toString()) as {
    texts: string[]
    indexes: number[]
  }[]
  const [first] = columns
  return (first?.indexes ?? []).map((_, row) =>
    columns.map(({ texts, indexes }) => texts[indexes[row] ?? -1] ?? ''),
  )
}

describe('a report', () => {
  test('is deterministic, and equal for CSV and Parquet except for the runs', async () => {
    const { file } = await report([outputs.csv], { out: join(folder, 'again.html') })
    expect(readFileSync(file, 'utf8')).toBe(pages.csv)
    const parts = (page: string) => page.replace(/<section id="reading">[\s\S]*?<\/section>/, '')
    expect(parts(pages.parquet)).toBe(parts(pages.csv))
  })

  test('names the most active wallet and the inactive ones in its summary', () => {
    const [, words = ''] = /<p class="words">([\s\S]*?)<\/p>/.exec(pages.csv) ?? []
    const counts = new Map<string, number>()
    for (const { wallet_address } of ledger)
      counts.set(wallet_address ?? '', (counts.get(wallet_address ?? '') ?? 0) + 1)
    const [busiest, most] = [...counts].sort(([, a], [, b]) => b - a)[0] ?? ['', 0]
    const inactive = readManifest(outputs.csv).coverage.filter(({ address }) => !counts.has(address))
    const addressOf = (html = '') => /title="(0x[0-9a-f]{40})"/.exec(html)?.[1]
    const [, before, share] = /([\s\S]*) accounts for (\d+)\u00a0%/.exec(words) ?? []
    expect([addressOf(before), share]).toEqual([busiest, String(Math.round((100 * most) / ledger.length))])
    const [, count, shown = ''] = /(\d+) wallets? had no movements: ([\s\S]*?)\./.exec(words) ?? []
    expect(count).toBe(String(inactive.length))
    expect(shown.split(', ').map(addressOf)).toEqual(inactive.slice(0, 5).map(({ address }) => address))
  })

  test('shows the counts of the tables, and states what it counts', async () => {
    expect(pages.csv).toContain('A transaction is counted if it moved an asset of a wallet or cost it a fee')
    const hashes = new Set(ledger.map(({ transaction_hash }) => transaction_hash))
    const tiles = [...pages.csv.matchAll(/<li><b>(.*?)<\/b><span>(.*?)<\/span>/g)].map(
      ([, figure = '', name = '']) => [name, cellText(`>${figure}`)],
    )
    const fees = ledger.filter(({ entry_type }) => entry_type === 'fee')
    const paid = fees.reduce((sum, { value }) => sum - BigInt(value ?? ''), 0n)
    expect(Object.fromEntries(tiles)).toMatchObject({
      transactions: String(hashes.size),
      'AVAX in fees': `${paid / 10n ** 18n}.${String(paid % 10n ** 18n)
        .padStart(18, '0')
        .replace(/0+$/, '')}`,
    })
    const wallets = tableOf(pages.csv, 'Activity by wallet')
    expect(wallets).toHaveLength(53)
    const movements = wallets.reduce((sum, cells) => sum + Number(cells[4]?.replace('–', '0')), 0)
    expect(movements).toBe(ledger.length)
  })

  test('shows exactly the balances that `balances` returns', async () => {
    const expected = (await balances(outputs.csv, { all: true })).balances
      .filter(({ asset_type }) => asset_type === 'native')
      .map(({ amount }) => amount)
    const shown = tableOf(pages.csv, 'Balances at the end: AVAX')
    expect(shown.map(([, amount]) => amount).sort()).toEqual(expected.sort())
  })

  test('sums the statement of a year over wallets and token ids', async () => {
    const { lines } = await statement([outputs.csv], { year: '2023' })
    const sums = new Map<string, bigint[]>()
    for (const { asset_type, asset_address, amounts } of lines) {
      if (asset_type !== 'native' && asset_type !== 'erc20') continue
      const values = AMOUNTS.map((name) => amounts[name])
      const key = asset_address ?? 'native'
      sums.set(
        key,
        (sums.get(key) ?? values.map(() => 0n)).map((sum, at) => sum + (values[at] ?? 0n)),
      )
    }
    const years = pages.csv.split('<section id="years">')[1]?.split('</section>')[0] ?? ''
    const rows = years.split('<tr>').slice(1)
    for (const [key, values] of sums) {
      const row = rows.find((one) => one.includes(key === 'native' ? '<strong>AVAX</strong>' : key)) ?? ''
      const shown = row.split('<td').slice(1).map(cellText)
      // Without knowledge of the decimals, only the digits can be compared.
      const digitsOf = (text: string) =>
        text
          .replace(/^in the smallest unit: /, '')
          .replace(/[.]/, '')
          .replace(/^(-?)0+(?=.)/, '$1')
          .replace(/(?<=[1-9])0+$/, '')
      expect([key, shown.map(digitsOf)]).toEqual([key, values.map((value) => digitsOf(String(value)))])
    }
    expect(sums.size).toBeGreaterThan(10)
  })

  test('has the totals of all wallets below the amounts of each', () => {
    const wei = (text = '0') => {
      const [, sign, whole = '', fraction = ''] = /^(-?)(\d+)\.?(\d*)$/.exec(text) ?? []
      return BigInt(`${sign}${whole}${fraction.padEnd(18, '0')}`)
    }
    for (const caption of ['AVAX by wallet', 'Balances at the end: AVAX', 'Fees in AVAX']) {
      const rows = tableOf(pages.csv, caption)
      const [name, ...totals] = totalsOf(pages.csv, caption)
      const sums = totals.map((_, at) => rows.reduce((sum, cells) => sum + wei(cells[at + 1]), 0n))
      expect([caption, name, totals.map(wei)]).toEqual([caption, 'Total', sums])
    }
  })

  test('links to each of its sections', () => {
    const sections = [...pages.csv.matchAll(/<section [^>]*id="([a-z]+)"[^>]*><h2>/g)].map(([, id]) => id)
    const [, contents = ''] = /<nav class="contents"[^>]*>(.*?)<\/nav>/.exec(pages.csv) ?? []
    const links = [...contents.matchAll(/href="#([a-z]+)"/g)].map(([, id]) => id)
    expect([...links, 'limits']).toEqual(sections)
    expect(links).toContain('years')
  })

  test('shows net amounts of assets that equal the sums of the ledger', () => {
    const sums = new Map<string, bigint>()
    for (const { asset_address, asset_type, value } of ledger)
      if (asset_type === 'erc20')
        sums.set(asset_address ?? '', (sums.get(asset_address ?? '') ?? 0n) + BigInt(value ?? ''))
    const page = pages.csv.split('<section id="assets">')[1]?.split('</section>')[0] ?? ''
    const rows = [...page.matchAll(/title="(0x[0-9a-f]{40})"[\s\S]*?<\/tr>/g)].map(([row, contract = '']) => [
      contract,
      [...row.matchAll(/class="amount" title="([^"]*)"/g)][2]?.[1]
        ?.replace(/[^\d-]/g, '')
        .replace(/^(-?)0+(?=\d)/, '$1'),
    ])
    const nets = new Map(rows.map(([contract, net]) => [contract, net]))
    expect([...sums].filter(([contract]) => !nets.has(contract))).toEqual([])
    const trimmed = (text: string | undefined) => text?.replace(/0+$/, '')
    for (const [contract, sum] of sums)
      expect([contract, trimmed(nets.get(contract))]).toEqual([contract, trimmed(String(sum)) || ''])
  })

  test('contains every row, or states that it contains the newest ones', async () => {
    const rows = rowsIn(pages.csv)
    expect(rows).toHaveLength(ledger.length)
    expect(rows.map((cells) => cells[9])).toEqual(ledger.map(({ transaction_hash }) => transaction_hash))
    const few = await report([outputs.csv], { out: join(folder, 'few.html'), maxRows: 100 })
    const page = readFileSync(few.file, 'utf8')
    expect(rowsIn(page)).toEqual(rows.slice(-100))
    expect(page).toContain('the newest 100 of')
  })

  test('is not part of the export', async () => {
    expect(await runCommand(['verify', outputs.csv])).toMatchObject({ exit: 0, stderr: '' })
  })

  test('allows only its own script and style by Content-Security-Policy, and refers to no URLs', () => {
    expect(pages.csv).toMatch(
      /content="default-src 'none'; script-src 'sha256-[A-Za-z0-9+/=]+'; style-src 'sha256-[A-Za-z0-9+/=]+'; base-uri 'none'; form-action 'none'"/,
    )
    expect(pages.csv).not.toMatch(
      /<(link|img|iframe|object|embed|base|form)\b| on\w+=| style=|(src|href)="(?!#)/i,
    )
  })

  test('escapes untrusted text', () => {
    const hostile = new Set(
      ledger.map(({ asset_symbol }) => asset_symbol ?? '').filter((text) => /[<>&]/.test(text)),
    )
    expect(hostile.size).toBeGreaterThan(1)
    const [shown = ''] = pages.csv.split('<script type=')
    for (const text of hostile) expect(shown).not.toContain(text)
    expect(shown).not.toMatch(/[\p{Cf}\u2028\u2029]/u)
  })

  test('of two exports contains both, with unique ids', { tags: ['long'] }, async () => {
    const { file } = await report([outputs.csv, outputs.parquet], {
      out: join(folder, 'both.html'),
      title: 'Both',
    })
    const page = readFileSync(file, 'utf8')
    expect(page.match(/<article /g)).toHaveLength(2)
    const ids = [...page.matchAll(/ id="([^"]+)"/g)].map(([, id]) => id)
    expect(new Set(ids).size).toBe(ids.length)
    expect(page).toContain('<title>Both</title>')
  })
})

describe('walletlake report', () => {
  test('writes the page to --out and reports its path, size and rows', async () => {
    writeFileSync(join(folder, 'names.csv'), `address,name\n${ledger[0]?.wallet_address},The <first>\n`)
    const { exit, stderr, stdout } = await runCommand([
      'report',
      outputs.csv,
      '--out',
      join(folder, 'named.html'),
      '--title',
      'Mine & yours',
      '--names',
      join(folder, 'names.csv'),
      '--max-rows',
      '10',
    ])
    expect({ exit, stdout }).toEqual({ exit: 0, stdout: '' })
    expect(stderr).toMatch(/^wrote .*named\.html \(.* [KM]B, 10 rows\): open it in a browser\n$/)
    const page = readFileSync(join(folder, 'named.html'), 'utf8')
    expect(page).toContain('<title>Mine &amp; yours</title>')
    expect(page).toContain('The &lt;first&gt;')
  })

  test.skipIf(process.platform !== 'linux')(
    "opens the page with the desktop's browser, and warns if there is none",
    { tags: ['long'] },
    async () => {
      const [bin, opened] = [join(folder, 'bin'), join(folder, 'opened')]
      mkdirSync(bin)
      writeFileSync(join(bin, 'xdg-open'), `#!/bin/sh\necho "$1" > ${opened}\n`, { mode: 0o755 })
      const out = join(folder, 'open.html')
      const args = ['report', outputs.csv, '--out', out, '--max-rows', '5', '--open']
      expect((await runCommand(args, { PATH: `${bin}:/bin:/usr/bin` })).exit).toBe(0)
      await expect.poll(() => existsSync(opened) && readFileSync(opened, 'utf8')).toBe(`${out}\n`)
      const { exit, stderr } = await runCommand(args, { PATH: join(folder, 'nothing') })
      expect({ exit, stderr }).toEqual({ exit: 0, stderr: expect.stringContaining('no browser was found') })
    },
  )

  test('does not replace a named pipe', async () => {
    const pipe = join(folder, 'pipe')
    makeNamedPipe(pipe)
    const { exit, stderr } = await runCommand(['report', outputs.csv, '--out', pipe])
    expect({ exit, stderr }).toEqual({ exit: 2, stderr: expect.stringMatching(/ is a pipe, .*\nfix: /) })
    expect(lstatSync(pipe).isFIFO()).toBe(true)
  })

  test('overwrites its own page, but no file that it reads', async () => {
    const names = join(folder, 'kept.csv')
    writeFileSync(names, 'address,name\n')
    const manifest = join(outputs.csv, 'manifest.json')
    const write = (out: string) => report([outputs.csv], { names, out, maxRows: 5 })
    await expect(write(names)).rejects.toMatchObject({
      code: 'USAGE',
      message: `${names} is the file that --names names`,
      fix: 'Name another file.',
    })
    await expect(write(manifest)).rejects.toMatchObject({
      code: 'USAGE',
      message: expect.stringContaining(`${manifest} is part of the export`),
    })
    expect(readFileSync(names, 'utf8')).toBe('address,name\n')
    expect((await write(join(outputs.csv, 'report.html'))).rows).toBe(5)
  })

  test('creates the folder of its page, and rejects a folder as the page', async () => {
    const write = (out: string) => report([outputs.csv], { out, maxRows: 5 })
    expect((await write(join(folder, 'made', 'a', 'page.html'))).rows).toBe(5)
    expect(readdirSync(join(folder, 'made', 'a'))).toEqual(['page.html'])
    for (const out of [join(folder, 'made'), join(folder, 'new/')])
      await expect(write(out)).rejects.toMatchObject({ fix: 'Name a file: this is a folder.' })
  })

  test.for([
    { args: ['no/such/output'], message: 'there is no output folder' },
    { args: [], message: "missing required argument 'output'" },
    { args: ['.', '--max-rows', 'many'], message: 'a whole number up to 9,999,999' },
  ])('$args exits with 2 and a message', async ({ args, message }) => {
    const { exit, stderr } = await runCommand(['report', ...args])
    expect(exit).toBe(2)
    expect(stderr).toContain(message)
  })
})
