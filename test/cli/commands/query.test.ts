import { join } from 'node:path'
import { Readable } from 'node:stream'
import { expect, onTestFinished, test, vi } from 'vitest'
import { runCommand } from '../../helpers/command.ts'
import { tempFolder } from '../../helpers/temp-folder.ts'
import { goodLake } from '../../verify/export/model-export.ts'
import { writeLake } from '../../verify/export/write-model-export.ts'

/** Replaces stdin by this text. */
function typeIn(typed: string, isTTY: boolean): void {
  const stdin = Object.assign(Readable.from([typed]), { isTTY }) as unknown as typeof process.stdin
  const given = vi.spyOn(process, 'stdin', 'get').mockReturnValue(stdin)
  onTestFinished(() => given.mockRestore())
}

test.for([
  { where: 'on a terminal', isTTY: true, says: /^type statements, .+ Ctrl-D on a line of its own\nUSAGE: / },
  { where: 'from a file', isTTY: false, says: /^USAGE: there is no statement to run\n/ },
])('a query without a statement $where states what is missing', async ({ isTTY, says }) => {
  typeIn(' \n', isTTY)
  const { exit, stderr } = await runCommand(['query', '.'])
  expect(exit).toBe(2)
  expect(stderr).toMatch(says)
})

test.for([
  { args: [], rows: 100, last: '… and 50 more rows (--max-rows 150 shows all)' },
  { args: ['--max-rows', '150'], rows: 150, last: '149' },
  { args: ['--format', 'csv'], rows: 150, last: '149' },
])('a table on a terminal has at most 100 rows without --max-rows: $args', async ({ args, rows, last }) => {
  const output = join(tempFolder(), 'out')
  await writeLake(output, goodLake())
  const { isTTY } = process.stdout
  process.stdout.isTTY = true
  onTestFinished(() => void Object.assign(process.stdout, { isTTY }))
  const { exit, stdout } = await runCommand(['query', output, 'from range(150)', ...args])
  const lines = stdout.trimEnd().split('\n')
  expect({ exit, last: lines.at(-1)?.trim() }).toEqual({ exit: 0, last })
  expect(lines.filter((line) => /^ *\d+$/.test(line))).toHaveLength(rows)
})
