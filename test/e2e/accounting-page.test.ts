// @module-tag long

import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { pageAt, ROOT } from '../documents/pages.ts'
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

/** What a reader prepares: a job of their own, and a price list with filled-in prices. */
function prepare(): void {
  mkdirSync(at('jobs'), { recursive: true })
  if (!existsSync(at('jobs/mine.yaml')))
    writeFileSync(at('jobs/mine.yaml'), readFileSync(join(ROOT, 'jobs/demo.yaml')))
  if (!existsSync(at('prices.csv'))) return
  const text = readFileSync(at('prices.csv'), 'utf8')
  writeFileSync(at('prices.csv'), text.replace(/^([^,]+,[^,]+,[^,]+),,,/gm, '$1,USD,17.25,'))
}

describe('jobs/ACCOUNTING.md, followed literally', () => {
  test('has instructions for each program that it names, and for others', () => {
    const programs = COMMANDS.flatMap((command) => / --to (\w+)/.exec(command)?.[1] ?? [])
    expect(new Set(programs)).toEqual(
      new Set(['cointracking', 'koinly', 'rotki', 'hledger', 'rp2', 'etherscan']),
    )
    expect(COMMANDS.length).toBeGreaterThan(12)
  })

  test.for(COMMANDS)('%s', (command) => {
    prepare()
    const [line = '', target] = command.split(' > ')
    const [program = '', ...args] = line.split(' ')
    if (program === 'hledger' && !hasHledger) return
    const words = program === 'walletlake' ? ['node', join(ROOT, 'dist/bin.js')] : [program]
    const [file = '', ...given] = [...words, ...args]
    const { status, stdout, stderr } = spawnSync(file, given, { cwd: folder, encoding: 'utf8' })
    if (target !== undefined) writeFileSync(at(target), stdout)
    // Some tokens of the demo chain move without Transfer events.
    const expected = args[0] === 'reconcile' ? 10 : 0
    expect({ command, status, stderr: status === expected ? '' : stderr }).toEqual({
      command,
      status: expected,
      stderr: '',
    })
  })

  test('produces files that are valid for their programs', () => {
    const check = (file: string, to: string) =>
      execFileSync('node', [join(ROOT, 'dist/bin.js'), 'convert', '--check', file, '--to', to], {
        cwd: folder,
        encoding: 'utf8',
      })
    for (const to of ['koinly', 'cointracking']) expect(check(`${to}.csv`, to)).toContain(`good for ${to}`)
    for (const file of ['events', 'trades'])
      expect(check(`rotki/${file}.csv`, 'rotki')).toContain('good for rotki')
    for (const file of ['in', 'out', 'intra'])
      expect(check(`rp2/${file}.csv`, 'rp2')).toContain('good for rp2')
    expect(check('mine.journal', 'hledger')).toContain('good for hledger')
  })
})
