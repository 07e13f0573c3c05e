// @module-tag long

import { spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { pageAt, ROOT } from '../documents/pages.ts'
import { type CommandResult, runCommand } from '../helpers/command.ts'
import { suiteFolder } from '../helpers/temp-folder.ts'

const folder = suiteFolder()
const at = (name: string) => join(folder, name)

/** The commands of the page in order, without comments. */
const COMMANDS = [
  ...pageAt('jobs/ACCOUNTING.md').matchAll(/^(?:\d\. `|`)?((?:walletlake|hledger) -?[^`#\n]*)/gm),
]
  .map(([, command = '']) => command.trim())
  .filter((command) => command.split(' ').length > 2)

const hasHledger = spawnSync('sh', ['-c', 'command -v hledger']).status === 0

function runProgram(program: string, args: readonly string[]): CommandResult {
  const { status, stdout, stderr } = spawnSync(program, args, { cwd: folder, encoding: 'utf8' })
  return { exit: status, stdout, stderr }
}

/** What a reader prepares: a job of their own, and a price list with filled-in prices. */
function prepare(): void {
  mkdirSync(at('jobs'), { recursive: true })
  if (!existsSync(at('jobs/mine.yaml')))
    writeFileSync(at('jobs/mine.yaml'), readFileSync(join(ROOT, 'jobs/examples/demo.yaml')))
  if (!existsSync(at('prices.csv'))) return
  const text = readFileSync(at('prices.csv'), 'utf8')
  writeFileSync(at('prices.csv'), text.replace(/^([^,]+,[^,]+,[^,]+),,,/gm, '$1,USD,17.25,'))
}

/** Answers as DefiLlama does, with one price for all coins. */
const prices = createServer((request, response) => {
  const { searchParams } = new URL(request.url ?? '/', 'http://loopback')
  const asked = JSON.parse(searchParams.get('coins') ?? '{}') as Record<string, number[]>
  const coins = Object.entries(asked).map(([coin, times]) => [
    coin,
    { prices: times.map((timestamp) => ({ timestamp, price: 17.25, confidence: 0.99 })) },
  ])
  response.end(JSON.stringify({ coins: Object.fromEntries(coins) }))
})
const pricesUrl = once(prices.listen(0, '127.0.0.1'), 'listening').then(
  () => `http://127.0.0.1:${(prices.address() as AddressInfo).port}`,
)
afterAll(() => prices.close())

describe('jobs/ACCOUNTING.md, followed literally', () => {
  test('has instructions for each program that it names, and for others', () => {
    const programs = COMMANDS.flatMap((command) => / --to (\w+)/.exec(command)?.[1] ?? [])
    expect(new Set(programs)).toEqual(
      new Set(['cointracking', 'koinly', 'rotki', 'hledger', 'rp2', 'etherscan']),
    )
    expect(COMMANDS.length).toBeGreaterThan(12)
  })

  test.for(COMMANDS)('%s', async (command) => {
    prepare()
    const [line = '', target] = command.split(' > ')
    const [program = '', ...args] = line.split(' ')
    if (program === 'hledger' && !hasHledger) return
    const { exit, stdout, stderr } = await (program === 'walletlake'
      ? runCommand(args, { WALLETLAKE_DEFILLAMA_URL: await pricesUrl }, { cwd: folder })
      : runProgram(program, args))
    if (target !== undefined) writeFileSync(at(target), stdout)
    expect({ command, exit, stderr: exit === 0 ? '' : stderr }).toEqual({ command, exit: 0, stderr: '' })
  })

  test.for([
    ['koinly', 'koinly/Main-0x1b07dfcbcfa9a02ed77bf4f028dd45d9dac6ab68.csv'],
    ['cointracking', 'cointracking.csv'],
    ['rotki', 'rotki/events.csv'],
    ['rotki', 'rotki/trades.csv'],
    ['rp2', 'rp2/in.csv'],
    ['rp2', 'rp2/out.csv'],
    ['rp2', 'rp2/intra.csv'],
    ['hledger', 'mine.journal'],
  ])('produces a file that is valid for %s: %s', async ([to = '', file = '']) => {
    const { stdout } = await runCommand(['convert', '--check', file, '--to', to], {}, { cwd: folder })
    expect(stdout).toContain(`OK for ${to}`)
  })
})
