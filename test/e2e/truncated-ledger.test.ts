import { readFileSync, statSync, truncateSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, test } from 'vitest'
import { runCommand } from '../helpers/command.ts'
import { exportDemo } from '../helpers/demo-export.ts'
import { outputBytes } from '../helpers/output-bytes.ts'
import { suiteFolder } from '../helpers/temp-folder.ts'

const folder = suiteFolder()
const output = join(folder, 'out')
let ledger = ''

beforeAll(async () => {
  await exportDemo(output, { endBlock: 20, tables: ['transactions', 'ledger'] })
  const path = Object.keys(outputBytes(output)).find((name) => name.startsWith('ledger/')) ?? ''
  ledger = path
  const lines = readFileSync(join(output, path), 'utf8').split('\n')
  truncateSync(join(output, path), Buffer.byteLength(`${lines.slice(0, lines.length / 2).join('\n')}\n`))
})

describe('a ledger that is truncated between two rows is rejected by', () => {
  test.for([
    { command: 'convert', args: ['--to', 'generic', '--out', join(folder, 'books.csv')] },
    { command: 'balances', args: [] },
    { command: 'report', args: ['--out', join(folder, 'report.html')] },
    { command: 'query', args: ['select sum(value) from ledger'] },
    { command: 'query', args: ['select 1; select sum(value) from ledger'] },
    { command: 'convert', args: ['--prices-needed'] },
  ])('$command $args', async ({ command, args }) => {
    const { exit, stderr } = await runCommand([command, output, ...args])
    expect(exit).toBe(10)
    expect(stderr).toContain(`VERIFY_FAILED: ${ledger}: expected `)
    expect(stderr).toContain(`bytes, found ${statSync(join(output, ledger)).size}`)
    expect(stderr).toMatch(/^fix: Run .* verify on the output, then copy it here again/m)
  })
})
