import { existsSync, lstatSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, test } from 'vitest'
import { report } from '../../src/html-report/report.ts'
import { runCommand } from '../helpers/command.ts'
import { exportDemo } from '../helpers/demo-export.ts'
import { makeNamedPipe } from '../helpers/named-pipe.ts'
import { readCsvTable, type TextRow } from '../helpers/read-output.ts'
import { suiteFolder } from '../helpers/temp-folder.ts'

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

describe('a report', () => {
  test('is deterministic, and equal for CSV and Parquet except for the runs', async () => {
    const { file } = await report([outputs.csv], { out: join(folder, 'again.html') })
    expect(readFileSync(file, 'utf8')).toBe(pages.csv)
    const parts = (page: string) => page.replace(/<section id="collection">[\s\S]*?<\/section>/, '')
    expect(parts(pages.parquet)).toBe(parts(pages.csv))
  })

  test('links to each of its sections', () => {
    const sections = [...pages.csv.matchAll(/<section id="([a-z]+)"[^>]*><h2>/g)].map(([, id]) => id)
    const [, contents = ''] = /<nav aria-label="Sections">(.*?)<\/nav>/.exec(pages.csv) ?? []
    const links = [...contents.matchAll(/href="#([a-z]+)"/g)].map(([, id]) => id)
    expect(links).toEqual(sections)
    expect(links).toEqual(expect.arrayContaining(['worth', 'activity', 'years', 'limits']))
  })

  test('is not part of the export', async () => {
    expect(await runCommand(['verify', outputs.csv])).toMatchObject({ exit: 0, stderr: '' })
  })

  test('allows only its own script and style by Content-Security-Policy, and refers only to the explorer of the chain', () => {
    expect(pages.csv).toMatch(
      /content="default-src 'none'; script-src 'sha256-[A-Za-z0-9+/=]+'; style-src 'sha256-[A-Za-z0-9+/=]+'; base-uri 'none'; form-action 'none'"/,
    )
    const refers = /<(link|img|iframe|object|embed|base|form)\b| on\w+=| style=|src=/i
    expect(pages.csv.replace(/<script>[\s\S]*?<\/script>/, '')).not.toMatch(refers)
    const addresses = [...pages.csv.matchAll(/<a ([^>]*)href="(?!#)([^"]*)"/g)]
    expect(addresses.length).toBeGreaterThan(10)
    for (const [, attributes, address] of addresses) {
      expect(attributes).toContain('rel="noreferrer"')
      expect(address).toMatch(/^https:\/\/snowtrace\.io\/address\/0x[0-9a-f]{40}$/)
    }
  })

  test('links to no explorer with --no-links', async () => {
    const file = join(folder, 'unlinked.html')
    expect((await runCommand(['report', outputs.csv, '--no-links', '--out', file])).exit).toBe(0)
    const page = readFileSync(file, 'utf8')
    expect(page).not.toMatch(/href="(?!#)|snowtrace|data-do="links"/)
    expect(page.match(/0x[0-9a-f]{40}/g)?.length).toBeGreaterThan(10)
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

  test('of two exports of the same wallets would count them twice', async () => {
    await expect(
      report([outputs.csv, outputs.parquet], { out: join(folder, 'both.html') }),
    ).rejects.toMatchObject({
      code: 'USAGE',
      message: expect.stringContaining('both contain wallet'),
    })
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
    expect(stderr).toMatch(/^wrote .*named\.html \(.* [KM]B, \d+ rows\): open it in a browser\n$/)
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
    expect((await write(join(outputs.csv, 'report.html'))).rows).toBeLessThanOrEqual(5)
  })

  test('creates the folder of its page, and rejects a folder as the page', async () => {
    const write = (out: string) => report([outputs.csv], { out, maxRows: 5 })
    expect((await write(join(folder, 'made', 'a', 'page.html'))).rows).toBeLessThanOrEqual(5)
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
