import { expect, onTestFinished, test, vi } from 'vitest'
import { stdoutWriter } from '../../src/cli/stdout-writer.ts'
import { ExportError, FAILURES, type FailureCode, toExportError } from '../../src/core/model/errors.ts'
import { newRunStats } from '../../src/core/model/run-stats.ts'
import { rethrowQueryError } from '../../src/read/query-errors.ts'
import { createLog } from '../../src/terminal/log.ts'
import { print } from '../../src/terminal/print.ts'
import { progressLines } from '../../src/terminal/progress-display.ts'
import { writeQueryResult } from '../../src/terminal/write-query-result.ts'

/** OSC, CSI, C1 controls, marks of direction and every kind of line end, with what a line of this program looks like. */
const EVIL = '\u001b]0;title\u0007\u001b[2J\u009b31m\u202egnp\u2066x\r\nOUTPUT: good\u2028OUTPUT: good\u0085y'
const CONTROLS = /[\p{Cc}\p{Cf}\u2028\u2029]/u

function listenToStdout({ isTTY }: { isTTY: boolean }): string[] {
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

test.for(['pretty', 'json'] as const)('a %s line of the log is one line without controls', (format) => {
  const lines: string[] = []
  const log = createLog({ format, level: 'debug', write: (line) => lines.push(line) })
  for (const level of ['info', 'warn', 'debug'] as const) log[level](`wallet ${EVIL}`)
  expect(lines.map((line) => CONTROLS.test(line))).toEqual([false, false, false])
  expect(lines.every((line) => line.includes('\ufffd'))).toBe(true)
})

test.for(Object.keys(FAILURES) as FailureCode[])('text in a %s begins no line of its own', (code) => {
  const lines: string[] = []
  const log = createLog({ format: 'pretty', level: 'error', write: (line) => lines.push(line) })
  log.failure(new ExportError(code, `the service says ${EVIL}`, { fix: `Look at ${EVIL}.` }))
  const written = lines.join('').split('\n')
  expect(written.map((line) => CONTROLS.test(line))).toEqual([false, false])
  expect(written).toEqual([expect.stringMatching(`^${code}: `), expect.stringMatching(/^fix: /)])
})

test.for(Object.keys(FAILURES) as FailureCode[])('lines of a %s are those of this program', (code) => {
  const lines: string[] = []
  const log = createLog({ format: 'pretty', level: 'error', write: (line) => lines.push(line) })
  log.failure(new ExportError(code, [`first ${EVIL}`, `second ${EVIL}`], { fix: 'none' }))
  const written = lines.join('').split('\n')
  expect(written).toHaveLength(3)
  expect(written.some((line) => CONTROLS.test(line))).toBe(false)
})

test('a cell that a query cannot convert begins no line of its own', () => {
  const failed = new Error(
    `Conversion Error: Could not convert string '${EVIL}' to INT32\n\nLINE 1: select x\n      ^`,
  )
  const refused = () => rethrowQueryError(failed, { folder: 'out', path: '/scratch/out' })
  const error = toExportError(thrownBy(refused))
  expect(error.lines).toEqual([expect.stringContaining('OUTPUT: good'), 'LINE 1: select x', '      ^'])
})

function thrownBy(act: () => unknown): unknown {
  try {
    return act()
  } catch (thrown) {
    return thrown
  }
}

test('lines on stdout are those of this program', () => {
  const written = listenToStdout({ isTTY: false })
  print(EVIL)
  print([`a ${EVIL}`, 'b'])
  expect(written.join('').split('\n')).toHaveLength(4)
  expect(CONTROLS.test(written.join('').replaceAll('\n', ''))).toBe(false)
})

test('the display of progress shows names of jobs without controls', () => {
  const jobs = [{ name: EVIL, stats: newRunStats(1, 0) }]
  const text = progressLines({ jobs, pausedMs: 0, now: 1_000, columns: 200 })
  expect(CONTROLS.test(text)).toBe(false)
})

const answer = () => ({
  columns: [{ name: `symbol ${EVIL}`, isNumber: false }],
  batches: (async function* () {
    yield [[EVIL]]
  })(),
})

test.for(['csv', 'json', 'table'] as const)(
  'an answer as %s plays no tricks on a terminal',
  async (format) => {
    const written = listenToStdout({ isTTY: true })
    await writeQueryResult(answer(), format, stdoutWriter())
    const text = written.join('')
    expect(CONTROLS.test(text.replaceAll('\n', ''))).toBe(false)
    expect(text).toContain('\ufffd')
  },
)

test('an answer as CSV in a pipe or a file has the exact text', async () => {
  const written = listenToStdout({ isTTY: false })
  await writeQueryResult(answer(), 'csv', stdoutWriter())
  expect(written.join('')).toContain(EVIL)
})

test('a table has one line for each row, whatever its columns are called', async () => {
  const written: string[] = []
  await writeQueryResult(answer(), 'table', { write: (text) => void written.push(text) })
  expect(written.join('').split('\n')).toHaveLength(4)
})
