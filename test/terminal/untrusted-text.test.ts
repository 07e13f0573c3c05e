import { expect, onTestFinished, test, vi } from 'vitest'
import { stdoutWriter } from '../../src/cli/result-file.ts'
import { ExportError, FAILURES, type FailureCode, toExportError } from '../../src/core/model/errors.ts'
import { newRunStats } from '../../src/core/model/run-stats.ts'
import { rethrowQueryError } from '../../src/read/query-errors.ts'
import { createLog } from '../../src/terminal/log.ts'
import { print } from '../../src/terminal/print.ts'
import { progressLines } from '../../src/terminal/progress-display.ts'
import { writeQueryResult } from '../../src/terminal/write-query-result.ts'

/**
 * OSC, CSI and C1 controls, direction marks and all kinds of line breaks, with text that imitates a line of
 * this program.
 */
const EVIL = '\u001b]0;title\u0007\u001b[2J\u009b31m\u202egnp\u2066x\r\nOUTPUT: good\u2028OUTPUT: good\u0085y'
const CONTROLS = /[\p{Cc}\p{Cf}\u2028\u2029]/u

function captureStdout({ isTTY }: { isTTY: boolean }): string[] {
  const written: string[] = []
  const write = vi.spyOn(process.stdout, 'write').mockImplementation((text) => written.push(String(text)) > 0)
  const before = process.stdout.isTTY
  process.stdout.isTTY = isTTY
  onTestFinished(() => {
    write.mockRestore()
    process.stdout.isTTY = before
  })
  return written
}

test.for(['pretty', 'json'] as const)('a %s log line is one line without control characters', (format) => {
  const lines: string[] = []
  const log = createLog({ format, level: 'debug', write: (line) => lines.push(line) })
  for (const level of ['info', 'warn', 'debug'] as const) log[level](`wallet ${EVIL}`)
  expect(lines.map((line) => CONTROLS.test(line))).toEqual([false, false, false])
  expect(lines.every((line) => line.includes('\ufffd'))).toBe(true)
})

test.for(Object.keys(FAILURES) as FailureCode[])(
  'untrusted text in a %s error cannot start a line',
  (code) => {
    const lines: string[] = []
    const log = createLog({ format: 'pretty', level: 'error', write: (line) => lines.push(line) })
    log.failure(new ExportError(code, `the service says ${EVIL}`, { fix: `Look at ${EVIL}.` }))
    const written = lines.join('').split('\n')
    expect(written.map((line) => CONTROLS.test(line))).toEqual([false, false])
    expect(written).toEqual([expect.stringMatching(`^${code}: `), expect.stringMatching(/^fix: /)])
  },
)

test.for(Object.keys(FAILURES) as FailureCode[])('a %s error with several lines has no others', (code) => {
  const lines: string[] = []
  const log = createLog({ format: 'pretty', level: 'error', write: (line) => lines.push(line) })
  log.failure(new ExportError(code, [`first ${EVIL}`, `second ${EVIL}`], { fix: 'none' }))
  const written = lines.join('').split('\n')
  expect(written).toHaveLength(3)
  expect(written.some((line) => CONTROLS.test(line))).toBe(false)
})

test('a cell that a query cannot convert cannot start a line', async () => {
  const failed = new Error(
    `Conversion Error: Could not convert string '${EVIL}' to INT32\n\nLINE 1: select x\n      ^`,
  )
  const refused = rethrowQueryError(failed, { folder: 'out', path: '/scratch/out' })
  const error = toExportError(await refused.catch((thrown: unknown) => thrown))
  expect(error.lines).toEqual([expect.stringContaining('OUTPUT: good'), 'LINE 1: select x', '      ^'])
})

test('untrusted text on stdout cannot start a line', () => {
  const written = captureStdout({ isTTY: false })
  print(EVIL)
  print([`a ${EVIL}`, 'b'])
  expect(written.join('').split('\n')).toHaveLength(4)
  expect(CONTROLS.test(written.join('').replaceAll('\n', ''))).toBe(false)
})

test('the progress display shows job names without control characters', () => {
  const jobs = [{ name: EVIL, stats: newRunStats(1, 0) }]
  const text = progressLines({ jobs, pausedMs: 0, now: 1_000, columns: 200 })
  expect(CONTROLS.test(text)).toBe(false)
})

const resultOfQuery = () => ({
  columns: [{ name: `symbol ${EVIL}`, isNumber: false }],
  batches: (async function* () {
    yield [[EVIL]]
  })(),
})

test.for(['csv', 'json', 'table'] as const)(
  'a query result as %s contains no control characters on a terminal',
  async (format) => {
    const written = captureStdout({ isTTY: true })
    await writeQueryResult(resultOfQuery(), format, stdoutWriter())
    const text = written.join('')
    expect(CONTROLS.test(text.replaceAll('\n', ''))).toBe(false)
    expect(text).toContain('\ufffd')
  },
)

test('a query result as CSV in a pipe or a file has the exact text', async () => {
  const written = captureStdout({ isTTY: false })
  await writeQueryResult(resultOfQuery(), 'csv', stdoutWriter())
  expect(written.join('')).toContain(EVIL)
})

test('a table has one line per row, whatever its column names contain', async () => {
  const written: string[] = []
  await writeQueryResult(resultOfQuery(), 'table', { write: (text) => void written.push(text) })
  expect(written.join('').split('\n')).toHaveLength(4)
})
