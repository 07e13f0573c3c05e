import { expect, test } from 'vitest'
import { newRunStats } from '../../src/core/model/run-stats.ts'
import {
  formatBytes,
  formatCount,
  formatDuration,
  formatInteger,
  missingBlocksMessage,
} from '../../src/terminal/format.ts'
import { printable } from '../../src/terminal/log.ts'
import { type ProgressState, progressLines } from '../../src/terminal/progress-display.ts'

function state(given: Partial<ProgressState> & { jobs: ProgressState['jobs'] }): ProgressState {
  return { pausedMs: 0, now: 10_000, columns: 80, ...given }
}

const reading = {
  ...newRunStats(3, 0),
  phase: 'reading',
  share: 0.5,
  pages: 1234,
  items: 99_000,
  requests: 400,
} as const

test('shows pages, transactions, request rate, 429s and the remaining time of a job', () => {
  const text = progressLines(state({ jobs: [{ name: 'treasury', stats: { ...reading, rateLimited: 2 } }] }))
  expect(text).toBe('treasury #####.....  50% 1,234 pages 99,000 txs 40.0 req/s 2 429s ~10.0 s left')
})

test('omits 429s if there were none and keeps the request rate of an ended job', () => {
  const done = { ...reading, phase: 'done', endedMs: 5_000 } as const
  const text = progressLines(state({ jobs: [{ name: 'night', stats: done }], now: 60_000 }))
  expect(text).toBe('night  done  1,234 pages, 0 rows, 80.0 req/s')
})

test.for(['stopped', 'failed'] as const)('does not show a job as done that has %s', (phase) => {
  const ended = { ...reading, phase, endedMs: 5_000 }
  const text = progressLines(state({ jobs: [{ name: 'night', stats: ended }], now: 60_000 }))
  expect(text).toBe(`night  ${phase}  1,234 pages, 0 rows, 80.0 req/s`)
})

test('keeps every line within the terminal width and shows why it waits', () => {
  const jobs = Array.from({ length: 3 }, (_, at) => ({
    name: `a-very-long-job-name-number-${at}`,
    stats: reading,
  }))
  const lines = progressLines(state({ jobs, pausedMs: 7_000, columns: 60 })).split('\n')
  expect(lines).toHaveLength(4)
  expect(lines.filter((line) => line.length > 59)).toEqual([])
  expect(lines[3]).toContain('waiting 7.0 s')
})

test('does not show a pause once all jobs have ended', () => {
  const ended = { ...reading, phase: 'stopped' as const }
  expect(progressLines(state({ jobs: [{ name: 'a', stats: ended }], pausedMs: 400 }))).not.toContain('wait')
})

test('shows the reason for retries below a job', () => {
  const service = {
    hasResponded: false,
    lastError: 'nothing listens at http://127.0.0.1:8787 (ECONNREFUSED)',
  }
  const retrying = state({ jobs: [{ name: 'a', stats: { ...reading, service } }] })
  expect(progressLines(retrying).split('\n')[1]).toBe(
    '  retrying: nothing listens at http://127.0.0.1:8787 (ECONNREFUSED)',
  )
  const done = state({ jobs: [{ name: 'a', stats: { ...reading, service, phase: 'done' } }] })
  expect(progressLines(done).split('\n')).toHaveLength(1)
})

test('summarizes jobs that do not fit on the screen', () => {
  const jobs = Array.from({ length: 30 }, (_, at) => ({
    name: `job-${at}`,
    stats: { ...reading, phase: at < 5 ? ('done' as const) : reading.phase },
  }))
  const lines = progressLines(state({ jobs })).split('\n')
  expect(lines).toHaveLength(13)
  expect(lines.at(-1)).toBe('… 5 of 30 jobs done')
  const ends = ['done', 'stopped', 'failed', 'failed'] as const
  const ended = jobs.map((job, at) => ({ ...job, stats: { ...reading, phase: ends[at] ?? reading.phase } }))
  expect(
    progressLines(state({ jobs: ended }))
      .split('\n')
      .at(-1),
  ).toBe('… 1 of 30 jobs done, 1 stopped, 2 failed')
})

test('replaces control characters in untrusted text', () => {
  expect(printable('\u001b[2Ja\u0007\u202eb\u0000\ud800')).toBe('\ufffd[2Ja\ufffd\ufffdb\ufffd\ufffd')
})

test('formats numbers, durations and sizes for people', () => {
  expect([formatInteger(1_234_567), formatCount(1, 'row'), formatCount(2, 'row')]).toEqual([
    '1,234,567',
    '1 row',
    '2 rows',
  ])
  expect([
    formatDuration(850),
    formatDuration(4_200),
    formatDuration(200_000),
    formatDuration(7_500_000),
  ]).toEqual(['850 ms', '4.2 s', '3 min 20 s', '2 h 5 min'])
  expect([formatDuration(999.565699), formatDuration(59_960), formatDuration(0.4)]).toEqual([
    '1.0 s',
    '1 min 0 s',
    '0 ms',
  ])
  expect([formatBytes(0), formatBytes(1_500), formatBytes(14_300_000)]).toEqual(['0 B', '1.5 KB', '14.3 MB'])
})

test('lists at most twelve ranges of missing blocks', () => {
  const one = [{ from: 7, to: 8 }]
  const many = Array.from({ length: 2_000 }, (_, at) => ({ from: at * 3, to: at * 3 + 2 }))
  expect(missingBlocksMessage(one)).toBe('1 block is missing: [7, 8)')
  expect(missingBlocksMessage(many)).toMatch(
    /^4,000 blocks are missing: \[0, 2\) .* \[33, 35\) and 1,988 more ranges$/,
  )
})
