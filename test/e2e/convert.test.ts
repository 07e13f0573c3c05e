import {
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, test } from 'vitest'
import { FORMAT_NAMES } from '../../src/accounting/formats.ts'
import { runCommand } from '../helpers/command.ts'
import { exportDemo } from '../helpers/demo-export.ts'
import { makeNamedPipe } from '../helpers/named-pipe.ts'
import { readCsvTable, type TextRow } from '../helpers/read-output.ts'
import { suiteFolder } from '../helpers/temp-folder.ts'

const folder = suiteFolder()
const output = join(folder, 'out')
let ledger: TextRow[] = []

beforeAll(async () => {
  await exportDemo(output, { endBlock: 20 })
  ledger = await readCsvTable(output, 'ledger')
})

const convert = (...words: string[]) => runCommand(['convert', output, ...words])
const at = (name: string) => join(folder, name)

/** The lines without those for further parts of payments through multisend contracts. */
const entryLines = (text: string) =>
  text
    .trimEnd()
    .split('\n')
    .filter((line) => !/ entry [0-9a-f]+-\d+"?$/.test(line))

describe('walletlake convert', () => {
  test('writes to stdout, and a summary to stderr', async () => {
    const { exit, stdout, stderr } = await convert('--to', 'generic')
    expect(exit).toBe(0)
    expect(entryLines(stdout)).toHaveLength(ledger.length + 1)
    expect(stderr).toMatch(/movements became [\d,]+ lines for generic\n/)
  })

  test('writes a file and a list of omissions, and exits with 6 with --strict', async () => {
    const lax = await convert('--to', 'tokentax', '--out', at('t.csv'))
    expect(lax).toMatchObject({
      exit: 0,
      stderr: expect.stringContaining('movements left out: the format has no NFTs'),
    })
    const listed = readFileSync(at('t.csv.omitted.csv'), 'utf8').split('\n')
    expect(listed[0]).toBe(
      'reason,chain_id,block_timestamp,transaction_hash,entry_id,wallet_address,wallet_label,asset_type,asset_address,asset_symbol,token_id,value',
    )
    const nfts = ledger.filter(({ asset_type }) => /erc721|erc1155/.test(asset_type ?? ''))
    expect(listed).toHaveLength(nfts.length + 2)
    const strict = await convert('--to', 'tokentax', '--out', at('t.csv'), '--strict')
    expect(strict).toMatchObject({ exit: 6, stderr: expect.stringContaining('RECORDS_REJECTED') })
    expect((await runCommand(['convert', '--check', at('t.csv'), '--to', 'tokentax'])).exit).toBe(0)
  })

  test('reports errors of a file with their lines and exits with 10', async () => {
    writeFileSync(at('bad.csv'), 'Type,Location\nDeposit,ethereum\n')
    const { exit, stdout, stderr } = await runCommand(['convert', '--check', at('bad.csv'), '--to', 'rotki'])
    expect(exit).toBe(10)
    expect(stdout).toContain(`${at('bad.csv')}:1: column 3 is absent, expected "Currency"`)
    expect(stderr).toMatch(/^VERIFY_FAILED: .*mistakes for rotki\nfix: /)
  })

  test('writes a file per wallet, which together contain the rows of the single file', async () => {
    await convert('--to', 'generic', '--out', at('all.csv'))
    await convert('--to', 'generic', '--per-wallet', '--out', at('each'))
    const lines = readdirSync(at('each')).flatMap((name) =>
      readFileSync(join(at('each'), name), 'utf8')
        .trimEnd()
        .split('\n')
        .slice(1),
    )
    const all = readFileSync(at('all.csv'), 'utf8').trimEnd().split('\n').slice(1)
    expect(lines.sort()).toEqual(all.sort())
    expect(readdirSync(at('each')).length).toBe(
      new Set(ledger.map(({ wallet_address }) => wallet_address)).size,
    )
  })

  test('converts a range of days, both ends included', async () => {
    const days = [...new Set(ledger.map(({ block_timestamp }) => `${block_timestamp}`.slice(0, 10)))]
    const [day = ''] = days
    const { stdout } = await convert('--to', 'generic', '--from', day, '--until', day)
    const there = ledger.filter(({ block_timestamp }) => block_timestamp?.startsWith(day))
    expect(entryLines(stdout)).toHaveLength(there.length + 1)
    expect(
      (await convert('--to', 'generic', '--from', '2030-01-01')).stdout.trimEnd().split('\n'),
    ).toHaveLength(1)
  })

  test('keeps the numbers of unknown assets next to the export, for files, folders and stdout', async () => {
    const words = ['--to', 'koinly', '--per-wallet', '--out']
    expect((await convert(...words, `${at('kp')}/`)).exit).toBe(0)
    const numbers = readFileSync(`${output}.assets.csv`, 'utf8')
    expect(numbers).toMatch(/^placeholder,.*\nNULL1,/)
    expect(readdirSync(at('kp')).filter((name) => !name.endsWith('.csv') || name.startsWith('.'))).toEqual([])
    expect((await convert('--to', 'koinly')).exit).toBe(0)
    expect(readFileSync(`${output}.assets.csv`, 'utf8')).toBe(numbers)
  })

  test('gives transactions the types from a labels file', async () => {
    const row = ledger.find(({ entry_type }) => entry_type === 'transfer')
    writeFileSync(at('labels.csv'), `match,type\n${row?.transaction_hash},Gambling\n`)
    const { exit, stdout } = await convert(
      '--to',
      'cointracking',
      '--swaps',
      'off',
      '--labels',
      at('labels.csv'),
    )
    expect(exit).toBe(2)
    writeFileSync(at('labels.csv'), `match,type\n${row?.transaction_hash},Gift\n`)
    const good = await convert('--to', 'cointracking', '--swaps', 'off', '--labels', at('labels.csv'))
    const gifts = good.stdout.split('\n').filter((line) => line.startsWith('Gift,'))
    expect(stdout).toBe('')
    expect(gifts.length).toBeGreaterThan(0)
    expect(good.stderr).not.toContain('matched nothing')
    expect(gifts.every((line) => line.includes(`${row?.transaction_hash}`))).toBe(true)
  })

  test('writes Gift as the exchange of gifts for TokenTax, and the wallet for everything else', async () => {
    const row = ledger.find(
      ({ entry_type, asset_type }) => entry_type === 'transfer' && asset_type === 'erc20',
    )
    writeFileSync(at('gifts.csv'), `match,type\n${row?.transaction_hash},Gift\n`)
    const words = ['--to', 'tokentax', '--swaps', 'off', '--out', at('gifts')]
    expect((await convert(...words, '--labels', at('gifts.csv'))).exit).toBe(0)
    const text = readFileSync(at('gifts'), 'utf8')
    const lines = text.trimEnd().split('\n').slice(1)
    const [gifts, others] = [true, false].map((isGift) =>
      lines.filter((line) => line.startsWith('Gift,') === isGift).map((line) => line.split(',')[7]),
    )
    expect(gifts?.length).toBeGreaterThan(0)
    expect(new Set(gifts)).toEqual(new Set(['Gift']))
    expect(others).not.toContain('Gift')
    writeFileSync(at('gifts'), text.replace(/^(Gift,.*),Gift,/m, '$1,mine,'))
    const { exit, stdout } = await runCommand(['convert', '--check', at('gifts'), '--to', 'tokentax'])
    expect(exit).toBe(10)
    expect(stdout).toContain('wallet "mine", expected Gift for the type Gift')
  })

  test.for(['cointracking', 'hledger', 'rp2'])(
    'reports lines of a labels file that match nothing: %s',
    async (to) => {
      const counterparty = ledger.find(({ entry_type }) => entry_type === 'transfer')?.counterparty_address
      const type = to === 'rp2' ? 'DONATE' : 'Gift'
      writeFileSync(at('off.csv'), `match,type\nnone(),${type}\n${counterparty},${type}\nnever(),${type}\n`)
      const prices = 'date,asset,currency,price\n2023-11-14,native,USD,1\n'
      writeFileSync(at('one-price.csv'), prices)
      const words = ['--labels', at('off.csv'), '--prices', at('one-price.csv'), '--out', at(`off-${to}`)]
      const { exit, stderr } = await convert('--to', to, ...words)
      expect({ exit, stderr }).toEqual({
        exit: 0,
        stderr: expect.stringContaining(
          `2 lines of ${at('off.csv')} matched nothing: the first is none() in line 2 (fees and own transfers keep their type)\n`,
        ),
      })
    },
  )

  test('sets the counter account of journal entries', async () => {
    const row = ledger.find(({ entry_type }) => entry_type === 'transfer')
    writeFileSync(at('accounts.csv'), `match,type\n${row?.counterparty_address},expenses:rent\n`)
    const good = await convert('--to', 'hledger', '--labels', at('accounts.csv'), '--out', at('rent.journal'))
    expect(good).toMatchObject({
      exit: 0,
      stderr: expect.stringMatching(/movements became [\d,]+ transactions for hledger: /),
    })
    expect(readFileSync(at('rent.journal'), 'utf8')).toMatch(
      /^account expenses:rent\n[\s\S]*\n {4}expenses:rent {2}-?[\d.]+ "/m,
    )
    expect((await runCommand(['convert', '--check', at('rent.journal'), '--to', 'hledger'])).exit).toBe(0)
    writeFileSync(at('accounts.csv'), `match,type\n${row?.counterparty_address},\n`)
    const bad = await convert('--to', 'hledger', '--labels', at('accounts.csv'))
    expect(bad).toMatchObject({ exit: 2, stderr: expect.stringContaining('accounts.csv:2: found no type') })
  })

  test('lists the required prices, and writes values calculated from them', async () => {
    const list = await convert('--prices-needed')
    expect(list).toMatchObject({ exit: 0, stderr: '' })
    const [header, ...lines] = list.stdout.trimEnd().split('\n')
    expect(header).toBe('date,chain,asset,currency,price,symbol')
    const pairs = ledger
      .filter(({ asset_type }) => asset_type === 'native' || asset_type === 'erc20')
      .map((row) => `${row.block_timestamp?.slice(0, 10)},43114,${row.asset_address || 'native'}`)
    expect(lines.map((line) => line.split(',').slice(0, 3).join(','))).toEqual([...new Set(pairs)].sort())
    const filled = lines.map((line) => line.replace(/^([^,]+,43114,native),,,/, '$1,USD,13.5,'))
    writeFileSync(at('prices.csv'), [header, ...filled, ''].join('\n'))
    const left = await convert('--prices-needed', '--prices', at('prices.csv'), '--out', at('left.csv'))
    expect(left).toMatchObject({ exit: 0, stderr: expect.stringContaining('prices to fill in') })
    expect(readFileSync(at('left.csv'), 'utf8')).not.toContain('native')
    const again = await convert('--prices-needed', '--prices', at('prices.csv'), '--out', at('prices.csv'))
    expect(again).toMatchObject({ exit: 2, stderr: expect.stringContaining('prices.csv already exists') })
    expect(again.stderr).toMatch(/\nfix: Name another file with --out; with --prices \S*prices.csv it lists/)
    expect(readFileSync(at('prices.csv'), 'utf8')).toContain('native,USD,13.5,')
    const words = ['--prices', at('prices.csv'), '--out']
    const koinly = await convert('--to', 'koinly', ...words, at('worth.csv'))
    expect(koinly.stderr).toMatch(/\d+ amounts of \S+-[0-9a-f]{8} without a price\n/)
    expect(koinly.stderr).toMatch(/and of \d+ further assets: see --prices-needed/)
    expect(readFileSync(at('worth.csv'), 'utf8')).toMatch(/,0\.015206048,AVAX,,,,,0\.20528165,USD,cost,/)
    expect((await runCommand(['convert', '--check', at('worth.csv'), '--to', 'koinly'])).exit).toBe(0)
    const bittytax = await convert('--to', 'bittytax', ...words, at('b.csv'))
    expect(bittytax.exit).toBe(0)
    expect(readFileSync(at('b.csv'), 'utf8')).toMatch(
      /^Type,Buy Quantity,Buy Asset,Buy Value in USD,[^\n]*\nSpend,,,,0,AVAX,,0\.015206048,AVAX,0\.20528165,/,
    )
  })

  test('lists the tokens without a ticker, and names them by a filled-in list', async () => {
    const list = await convert('--tickers-needed', '--out', at('tickers.csv'))
    expect(list).toMatchObject({ exit: 0, stderr: expect.stringMatching(/^\d+ tickers to fill in: /m) })
    const [header, ...lines] = readFileSync(at('tickers.csv'), 'utf8').trimEnd().split('\n')
    expect(header).toBe('chain,contract,ticker,name,movements,volume')
    const contracts = ledger.flatMap(({ asset_type, asset_address }) =>
      asset_type === 'erc20' ? (asset_address ?? []) : [],
    )
    expect(lines.map((line) => line.split(',')[1]).sort()).toEqual([...new Set(contracts)].sort())
    const filled = lines.map((line, index) => line.replace(/^([^,]+,[^,]+),/, `$1,TOKEN${index}`))
    writeFileSync(at('tickers.csv'), [header, ...filled, ''].join('\n'))
    const { stdout } = await convert('--to', 'generic', '--tickers', at('tickers.csv'))
    expect(stdout).toContain(',TOKEN0,')
    expect((await convert('--tickers-needed', '--tickers', at('tickers.csv'))).stdout).toBe(`${header}\n`)
    expect(await convert('--tickers-needed', '--out', at('tickers.csv'))).toMatchObject({
      exit: 2,
      stderr: expect.stringContaining('may contain tickers that you filled in\nfix: Name another file'),
    })
  })

  test('creates the folder of a file, and of a price list', async () => {
    expect((await convert('--to', 'koinly', '--out', at('made/a/koinly.csv'))).exit).toBe(0)
    expect(readdirSync(at('made/a'))).toEqual(['koinly.csv'])
    expect((await convert('--prices-needed', '--out', at('made/b/prices.csv'))).exit).toBe(0)
    expect(readdirSync(at('made/b'))).toEqual(['prices.csv'])
  })

  test('leaves no partial file after a write error', async () => {
    writeFileSync(at('in-the-way'), '')
    const { exit, stderr } = await convert('--to', 'generic', '--out', at('in-the-way/a.csv'))
    expect({ exit, stderr }).toMatchObject({ exit: 7, stderr: expect.stringContaining('OUTPUT_FAILED') })
    mkdirSync(at('a-folder'))
    for (const out of [at('a-folder'), at('new/')]) {
      const refused = await convert('--to', 'koinly', '--out', out)
      expect(refused).toMatchObject({ exit: 7, stderr: expect.stringContaining('fix: Name a file') })
    }
    expect(readdirSync(folder).filter((name) => /^(a-folder|new)\b./.test(name))).toEqual([])
    expect(readdirSync(folder).filter((name) => name.endsWith('.part'))).toEqual([])
  })

  test.for([
    { words: ['--to', 'excel'], says: '--to: unknown program excel' },
    { words: [], says: '--to is missing' },
    { words: ['--to', 'rp2'], says: 'Name a folder' },
    { words: ['--to', 'koinly', '--prices', 'no/such.csv'], says: 'cannot read no/such.csv' },
    { words: ['--to', 'generic', '--per-wallet'], says: 'writes several files' },
    { words: ['--to', 'etherscan', '--swaps', 'pair'], says: 'no lines of two assets' },
    { words: ['--to', 'generic', '--from', '14.11.2023'], says: '--from: found 14.11.2023' },
    { words: ['--prices-needed', '--from', '2024-01-01', '--until', '2023-01-01'], says: 'is not before' },
    { words: ['--to', 'tokentax', '--labels', 'no/such.csv'], says: 'cannot read no/such.csv' },
    { words: ['--tickers-needed', '--tickers', 'no/such.csv'], says: 'cannot read no/such.csv' },
  ])('$words exits with 2 and a fix', async ({ words, says }) => {
    const { exit, stdout, stderr } = await convert(...words)
    expect({ exit, stdout }).toEqual({ exit: 2, stdout: '' })
    expect(stderr).toContain(says)
    expect(stderr).toContain('\nfix: ')
  })

  test.for([
    { words: ['--to', 'generic', '--out'] },
    { words: ['--to', 'generic', '--per-wallet', '--out'] },
    { words: ['--prices-needed', '--out'] },
    { words: ['--tickers-needed', '--out'] },
    { words: ['--to', 'koinly', '--map'] },
  ])('$words does not replace a pipe', async ({ words }) => {
    if (!existsSync(at('pipe'))) makeNamedPipe(at('pipe'))
    const { exit, stdout, stderr } = await convert(...words, at('pipe'))
    expect({ exit, stdout }).toEqual({ exit: 2, stdout: '' })
    expect(stderr).toMatch(/^USAGE: .*pipe is a pipe, .*\nfix: Name a file/)
    expect(lstatSync(at('pipe')).isFIFO()).toBe(true)
  })

  test.for(['--prices', '--labels', '--names', '--tickers', '--map'])(
    'does not overwrite the file of %s',
    async (option) => {
      const text = 'date,asset,currency,price,match,type\n2023-11-14,native,USD,1,claim(),deposit\n'
      writeFileSync(at('pin.csv'), text)
      const out = join(folder, 'out', '..', 'pin.csv')
      const { exit, stderr } = await convert('--to', 'koinly', option, at('pin.csv'), '--out', out)
      expect({ exit, stderr }).toEqual({
        exit: 2,
        stderr: expect.stringContaining(`is the file that ${option}`),
      })
      expect(stderr).toContain('\nfix: Name another file.')
      expect(readFileSync(at('pin.csv'), 'utf8')).toBe(text)
    },
  )

  test.for([
    { words: ['--to', 'generic'], out: 'transactions' },
    { words: ['--to', 'etherscan'], out: 'ledger' },
    { words: ['--prices-needed'], out: 'raw' },
  ])('does not overwrite any part of the export: $words to $out', async ({ words, out }) => {
    const before = readdirSync(output)
    const manifest = readFileSync(join(output, 'manifest.json'), 'utf8')
    const { exit, stderr } = await convert(...words, '--out', join(output, out))
    expect({ exit, stderr }).toEqual({ exit: 2, stderr: expect.stringContaining('is part of the export') })
    expect(readdirSync(output)).toEqual(before)
    expect(readFileSync(join(output, 'manifest.json'), 'utf8')).toBe(manifest)
  })

  test('removes the omission list of an earlier conversion after a successful one without omissions', async () => {
    const list = at('again.csv.omitted.csv')
    expect((await convert('--to', 'tokentax', '--out', at('again.csv'))).exit).toBe(0)
    expect(existsSync(list)).toBe(true)
    expect((await convert('--to', 'generic', '--labels', 'no/such.csv', '--out', at('again.csv'))).exit).toBe(
      2,
    )
    expect(existsSync(list)).toBe(true)
    const good = await convert('--to', 'generic', '--from', '2030-01-01', '--out', at('again.csv'))
    expect(good).toMatchObject({ exit: 0, stderr: expect.not.stringContaining('listed in') })
    expect(existsSync(list)).toBe(false)
  })

  test('does not remove another file, link or folder with the name of an omission list', {
    tags: ['long'],
  }, async () => {
    const words = ['--to', 'generic', '--from', '2030-01-01', '--out']
    await convert('--to', 'tokentax', '--out', at('linked.csv'))
    const list = readFileSync(at('linked.csv.omitted.csv'), 'utf8')
    const others = { file: list.replace('reason', 'reasons'), short: 'reason,block', empty: '' }
    for (const [name, text] of Object.entries(others)) writeFileSync(at(`${name}.omitted.csv`), text)
    symlinkSync('linked.csv.omitted.csv', at('link.omitted.csv'))
    mkdirSync(at('folder.omitted.csv'))
    for (const name of [...Object.keys(others), 'link', 'folder'])
      expect(await convert(...words, at(name))).toMatchObject({ exit: 0 })
    for (const [name, text] of Object.entries(others))
      expect(readFileSync(at(`${name}.omitted.csv`), 'utf8')).toBe(text)
    expect(lstatSync(at('link.omitted.csv')).isSymbolicLink()).toBe(true)
    expect(readFileSync(at('linked.csv.omitted.csv'), 'utf8')).toBe(list)
    expect(existsSync(at('folder.omitted.csv'))).toBe(true)
  })

  test('does not overwrite a price file with the omission list', async () => {
    writeFileSync(at('o.csv.omitted.csv'), 'date,asset,currency,price\n2023-11-14,native,USD,1\n')
    const words = ['--prices', at('o.csv.omitted.csv'), '--out', at('o.csv')]
    expect((await convert('--to', 'tokentax', ...words)).exit).toBe(2)
    expect(readFileSync(at('o.csv.omitted.csv'), 'utf8')).toContain('native,USD,1\n')
    expect(existsSync(at('o.csv'))).toBe(false)
  })

  test('lists every format in its help', async () => {
    const { stdout } = await runCommand(['convert', '--help'])
    expect(FORMAT_NAMES.filter((name) => !stdout.includes(name))).toEqual([])
  })
})
