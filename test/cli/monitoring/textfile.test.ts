import { lstatSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { type RunOutcome, runMetrics } from '../../../src/cli/monitoring/run-metrics.ts'
import { readTextfile, textfileText, writeTextfile } from '../../../src/cli/monitoring/textfile.ts'
import { makeNamedPipe } from '../../helpers/named-pipe.ts'
import { tempFile, tempFolder } from '../../helpers/temp-folder.ts'
import { outcomeOf } from './outcomes.ts'
import { parseTextfile } from './parse-textfile.ts'

/** Writes the metrics of a run to a file and parses it. */
async function runInto(path: string, outcome: RunOutcome) {
  await writeTextfile(path, runMetrics(outcome, await readTextfile(path)))
  return parseTextfile(readFileSync(path, 'utf8'))
}

const busy = {
  requests: 40,
  computeUnits: 790,
  rateLimited: 3,
  retries: 2,
  bytes: 9_000,
  rejects: 0,
  endBlock: 421,
}

test('writes every metric of a run with help and type', async () => {
  const stats = { ...busy, totalRows: { transactions: 7, ledger: 12 } }
  const parsed = await runInto(join(tempFolder(), 'm.prom'), {
    exit: 0,
    now: 20_000,
    jobs: [outcomeOf('night', 0, stats)],
  })
  const values = Object.fromEntries(Object.entries(parsed).map(([name, { samples }]) => [name, samples]))
  expect(values).toEqual({
    walletlake_exit_code: [[{}, 0]],
    walletlake_ended_timestamp_seconds: [[{}, 20]],
    walletlake_last_run_timestamp_seconds: [[{ job: 'night' }, 12.5]],
    walletlake_last_success_timestamp_seconds: [[{ job: 'night' }, 12.5]],
    walletlake_last_run_duration_seconds: [[{ job: 'night' }, 2.5]],
    walletlake_last_run_exit_code: [[{ job: 'night' }, 0]],
    walletlake_last_run_requests: [[{ job: 'night' }, 40]],
    walletlake_last_run_compute_units: [[{ job: 'night' }, 790]],
    walletlake_last_run_rate_limited: [[{ job: 'night' }, 3]],
    walletlake_last_run_retries: [[{ job: 'night' }, 2]],
    walletlake_last_run_received_bytes: [[{ job: 'night' }, 9000]],
    walletlake_last_run_rejects: [[{ job: 'night' }, 0]],
    walletlake_export_end_block: [[{ job: 'night' }, 421]],
    walletlake_export_rows: [
      [{ job: 'night', table: 'transactions' }, 7],
      [{ job: 'night', table: 'ledger' }, 12],
    ],
  })
  expect(Object.values(parsed).filter(({ help, type }) => help === '' || type !== 'gauge')).toEqual([])
})

test('keeps the last success and the rows of a failed job', async () => {
  const path = join(tempFolder(), 'm.prom')
  const good = { ...busy, totalRows: { ledger: 12 } }
  await runInto(path, { exit: 0, now: 20_000, jobs: [outcomeOf('a', 0, good), outcomeOf('b', 0, good)] })
  const later = { endedMs: 90_000 }
  const jobs = [outcomeOf('a', 5, later), outcomeOf('b', 0, { ...good, ...later, totalRows: { ledger: 15 } })]
  const parsed = await runInto(path, { exit: 5, now: 90_000, jobs })
  expect(parsed.walletlake_last_success_timestamp_seconds?.samples).toEqual([
    [{ job: 'b' }, 90],
    [{ job: 'a' }, 12.5],
  ])
  expect(parsed.walletlake_export_rows?.samples).toEqual([
    [{ job: 'b', table: 'ledger' }, 15],
    [{ job: 'a', table: 'ledger' }, 12],
  ])
  expect(parsed.walletlake_last_run_exit_code?.samples).toEqual([
    [{ job: 'a' }, 5],
    [{ job: 'b' }, 0],
  ])
})

test('keeps every last success if a run fails before its jobs are known', async () => {
  const path = join(tempFolder(), 'm.prom')
  await runInto(path, { exit: 0, now: 20_000, jobs: [outcomeOf('a', 0)] })
  const parsed = await runInto(path, { exit: 2, now: 30_000, jobs: undefined })
  expect(parsed.walletlake_exit_code?.samples).toEqual([[{}, 2]])
  expect(parsed.walletlake_last_success_timestamp_seconds?.samples).toEqual([[{ job: 'a' }, 12.5]])
})

test('drops a job that is no longer run', async () => {
  const path = join(tempFolder(), 'm.prom')
  await runInto(path, { exit: 0, now: 20_000, jobs: [outcomeOf('gone', 0)] })
  await runInto(path, { exit: 0, now: 30_000, jobs: [outcomeOf('here', 0)] })
  expect(readFileSync(path, 'utf8')).not.toContain('gone')
})

test('any label reads back unchanged', async () => {
  const path = join(tempFolder(), 'm.prom')
  await fc.assert(
    fc.asyncProperty(
      fc.string({ unit: 'binary' }),
      fc.double({ noNaN: true, noDefaultInfinity: true }).map((value) => value + 0),
      async (text, value) => {
        const metrics = [{ name: 'walletlake_x', help: 'One.', samples: [{ labels: { job: text }, value }] }]
        expect(parseTextfile(textfileText(metrics)).walletlake_x?.samples).toEqual([[{ job: text }, value]])
        writeFileSync(path, textfileText(metrics))
        if (text.isWellFormed())
          expect((await readTextfile(path))[0]?.samples).toEqual([{ labels: { job: text }, value }])
      },
    ),
    { numRuns: 60 },
  )
})

test('replaces an invalid textfile and leaves no other file', async () => {
  const folder = tempFolder()
  writeFileSync(join(folder, 'm.prom'), 'not metrics {{{\nwalletlake_export_rows{job="a" 3\n')
  await runInto(join(folder, 'm.prom'), { exit: 0, now: 20_000, jobs: [outcomeOf('a', 0)] })
  expect(readdirSync(folder)).toEqual(['m.prom'])
})

test('jobs/schedule/README.md lists every gauge', () => {
  const manual = readFileSync(join(import.meta.dirname, '../../../jobs/schedule/README.md'), 'utf8')
  const [, table = ''] = /\| gauge \|([\s\S]*?)\n\n/.exec(manual) ?? []
  const named = [...table.matchAll(/`(walletlake_\w+)`/g)].map(([, name]) => name)
  const job = outcomeOf('a', 0, { ...busy, totalRows: { ledger: 1 } })
  const made = runMetrics({ exit: 0, now: 20_000, jobs: [job] }).map(({ name }) => name)
  expect(named.sort()).toEqual(made.sort())
})

test('does not replace a named pipe', async () => {
  const pipe = join(tempFolder(), 'pipe')
  makeNamedPipe(pipe)
  await expect(readTextfile(pipe)).rejects.toMatchObject({ code: 'USAGE' })
  await expect(writeTextfile(pipe, [])).rejects.toMatchObject({ code: 'USAGE' })
  expect(lstatSync(pipe).isFIFO()).toBe(true)
})

test('replaces no part of an export and follows no link inside one', async () => {
  const folder = tempFolder()
  const outside = tempFile('outside.prom', 'kept')
  writeFileSync(join(folder, 'manifest.json'), '{}')
  symlinkSync(outside, join(folder, 'm.prom'))
  await expect(writeTextfile(join(folder, 'manifest.json'), [])).rejects.toThrow('is part of the export')
  await expect(writeTextfile(join(folder, 'runs', 'm.prom'), [])).rejects.toThrow('is part of the export')
  await expect(writeTextfile(join(folder, 'm.prom'), [])).rejects.toThrow(
    'is a symbolic link inside the export',
  )
  await expect(readTextfile(join(folder, 'm.prom'))).rejects.toThrow('is a symbolic link inside the export')
  expect([readFileSync(outside, 'utf8'), readFileSync(join(folder, 'manifest.json'), 'utf8')]).toEqual([
    'kept',
    '{}',
  ])
})
