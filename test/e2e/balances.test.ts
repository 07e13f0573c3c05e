import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, test } from 'vitest'
import { runCommand } from '../helpers/command.ts'
import { exportDemo, genesisCsv } from '../helpers/demo-export.ts'
import { readManifest } from '../helpers/read-output.ts'
import { suiteFolder } from '../helpers/temp-folder.ts'

const folder = suiteFolder()
const output = join(folder, 'out')
const opening = join(folder, 'genesis.csv')

beforeAll(async () => {
  await exportDemo(output, { endBlock: 60 })
  writeFileSync(opening, genesisCsv())
})

const COLUMNS = 'wallet_address,wallet_label,asset_type,asset_address,asset_symbol,token_id,value,amount'

describe('walletlake balances', () => {
  test('writes CSV that --expect accepts, and reports negative balances', async () => {
    const { exit, stdout, stderr } = await runCommand(['balances', output, '--format', 'csv'])
    expect(exit).toBe(0)
    expect(stdout.split('\n')[0]).toBe(COLUMNS)
    expect(stdout).toContain(`'=1+1`)
    expect(stderr).toMatch(
      /AVAX was below zero \(-\d+\.\d+ AVAX\) after transaction 0x[0-9a-f]{64} in block \d+: the account had coins at genesis/,
    )
    const path = join(folder, 'balances.csv')
    writeFileSync(path, stdout)
    const again = await runCommand(['balances', output, '--expect', path])
    expect(again).toMatchObject({
      exit: 0,
      stderr: expect.stringMatching(/\d balances compared .*: all equal/),
    })
    writeFileSync(path, stdout.replace(/,(\d+),[^,\n]+\n/, ',7$1,\n'))
    const other = await runCommand(['balances', output, '--expect', path])
    expect(other.exit).toBe(10)
    expect(other.stderr).toMatch(/balances\.csv:\d+: 0x[0-9a-f]{40} .*: expected 7\d+, found \d+/)
  })

  test('writes a template that --opening accepts once it is filled in', async () => {
    const { exit, stdout, stderr } = await runCommand(['balances', output, '--template'])
    expect([exit, stdout.split('\n')[0]]).toEqual([0, COLUMNS])
    expect(stderr).toContain('fill in amount (whole units) or value (smallest unit)')
    expect(stdout.match(/,native,,\w*,,,$/gm)).toHaveLength(readManifest(output).coverage.length)
    const [empty, filled] = [join(folder, 'empty.csv'), join(folder, 'filled.csv')]
    writeFileSync(empty, stdout)
    const lines = readFileSync(opening, 'utf8').toLowerCase().split('\n')
    const accounts = new Set(lines.filter((line) => !line.endsWith(',0')).map((line) => line.slice(0, 42)))
    const fill = (line: string) =>
      accounts.has(line.slice(0, 42)) ? line.replace(/(,native,,\w*,,),$/, '$1,10000') : line
    writeFileSync(filled, stdout.split('\n').map(fill).join('\n'))
    const sums = async (...words: string[]) =>
      (await runCommand(['balances', output, '--format', 'csv', ...words])).stdout
    expect(await sums('--opening', empty)).toBe(await sums())
    expect(await sums('--opening', filled)).toBe(await sums('--opening', opening))
  })

  test('lists zero balances only on request', async () => {
    const lines = async (...words: string[]) =>
      (await runCommand(['balances', output, '--format', 'csv', ...words])).stdout.split('\n')
    const [some, all] = [await lines(), await lines('--all')]
    expect(some.filter((line) => line.endsWith(',0,0'))).toEqual([])
    expect(all.filter((line) => line.endsWith(',0,0')).length).toBeGreaterThan(0)
    expect(all.length).toBeGreaterThan(some.length)
  })

  test('reports on stderr up to which block rows are summed, and where the export ends', async () => {
    const at = async (position: string) => (await runCommand(['balances', output, '--at', position])).stderr
    expect(await at('999999999')).toMatch(
      /--at 999999999: rows count up to block (\d+) \(\d{4}-.*Z\); the export ends with block \d{1,8}\n/,
    )
    expect(await at('2001-01-01')).toContain('--at 2001-01-01: no row counts; the export ends with block ')
    const [, newest] = /up to block (\d+)/.exec(await at('20')) ?? []
    expect(Number(newest)).toBeLessThanOrEqual(20)
    expect((await runCommand(['balances', output])).stderr).not.toContain('the export ends')
  })

  test('writes JSON with numbers as exact text', async () => {
    const { stdout } = await runCommand(['balances', output, '--format', 'json', '--opening', opening])
    const rows = JSON.parse(stdout) as Record<string, unknown>[]
    expect(Object.keys(rows[0] ?? {}).join(',')).toBe(COLUMNS)
    expect(rows[0]?.value).toMatch(/^\d+$/)
  })

  test('prints a table within 80 columns and without control characters', async () => {
    const { stdout } = await runCommand(['balances', output])
    const lines = stdout.split('\n')
    expect(Math.max(...lines.map((line) => [...line].length))).toBeLessThanOrEqual(80)
    expect(stdout.replaceAll('\n', '')).not.toMatch(/\p{Cc}/u)
    expect(lines.length).toBeGreaterThan(500)
  })

  test('explains a flagged token on one line, whatever its symbol contains', async () => {
    const { stderr } = await runCommand(['balances', output, '--flags'])
    const flags = stderr.split('\n').filter((line) => line.includes(': invisible ('))
    expect(flags.length).toBeGreaterThan(0)
    for (const line of flags) expect(line).toMatch(/^\S.* 0x[0-9a-f]{40}: /)
    expect(stderr).toMatch(/^,";\ufffd.* 0x[0-9a-f]{40}: /m)
  })

  test('does not fail if the reader closes the pipe early', async () => {
    const { stderr } = await runCommand(
      ['balances', output, '--format', 'json'],
      {},
      { shell: 'exec 1>/dev/null' },
    )
    expect(stderr).not.toContain('BUG')
  })

  test.for([
    { words: ['balances', 'no/such'], says: 'there is no output folder' },
    { words: ['balances', output, '--wallet', 'nobody'], says: 'has no wallet nobody' },
    { words: ['balances', output, '--format', 'xml'], says: 'Use one of table, csv, json' },
  ])('$words exits with 2 and a fix', async ({ words, says }) => {
    const { exit, stderr } = await runCommand(words)
    expect(exit).toBe(2)
    expect(stderr).toContain(says)
    expect(stderr).toContain('\nfix: ')
  })
})
