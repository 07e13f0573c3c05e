import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { readPastRuns } from '../../../src/export/history/past-runs.ts'
import { tempFolder } from '../../helpers/temp-folder.ts'

const RUN = {
  run: 'r1',
  state: 'complete',
  error: null,
  startedAt: '2025-01-01T00:00:00.000Z',
  chain: '1',
  seconds: 1,
  wallets: 2,
  requests: 3,
  transactions: 4,
}

test('returns the runs of an output, newest first', async () => {
  const output = tempFolder()
  mkdirSync(join(output, 'runs'))
  for (const day of ['01', '03', '02'])
    writeFileSync(join(output, 'runs', `202501${day}T000000Z-abc.json`), JSON.stringify({ ...RUN, run: day }))
  expect((await readPastRuns(output)).map(({ run }) => run)).toEqual(['03', '02', '01'])
})

test('sorts runs of the same second by the milliseconds in their reports', async () => {
  const output = tempFolder()
  mkdirSync(join(output, 'runs'))
  const starts = { aaaaaa: '.300Z', bbbbbb: '.100Z', cccccc: '.200Z' }
  for (const [run, ms] of Object.entries(starts))
    writeFileSync(
      join(output, 'runs', `20250101T000000Z-${run}.json`),
      JSON.stringify({ ...RUN, run, startedAt: `2025-01-01T00:00:00${ms}` }),
    )
  expect((await readPastRuns(output)).map(({ run }) => run)).toEqual(['aaaaaa', 'cccccc', 'bbbbbb'])
})

test.for([
  '',
  '{',
  'null',
  '[]',
  '{}',
  JSON.stringify({ ...RUN, requests: 'many' }),
  JSON.stringify({ ...RUN, startedAt: 'x' }),
])('skips a report with the content %s', async (text) => {
  const output = tempFolder()
  mkdirSync(join(output, 'runs'))
  writeFileSync(join(output, 'runs', '20250101T000000Z-abc.json'), text)
  writeFileSync(join(output, 'runs', 'notes.json'), JSON.stringify(RUN))
  expect(await readPastRuns(output)).toEqual([])
})

test('returns nothing if there are no reports', async () => {
  expect(await readPastRuns(join(tempFolder(), 'nowhere'))).toEqual([])
})
