import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { readPastRuns } from '../../../src/export/history/past-runs.ts'
import { tempFolder } from '../../helpers/temp-folder.ts'

const RUN = {
  ...{ run: 'r1', state: 'complete', error: null, startedAt: '2025-01-01T00:00:00.000Z', chain: '1' },
  ...{ seconds: 1, wallets: 2, requests: 3, transactions: 4 },
}

test('gives the runs of an output, the newest first', async () => {
  const output = tempFolder()
  mkdirSync(join(output, 'runs'))
  for (const day of ['01', '03', '02'])
    writeFileSync(join(output, 'runs', `202501${day}T000000Z-abc.json`), JSON.stringify({ ...RUN, run: day }))
  expect((await readPastRuns(output)).map(({ run }) => run)).toEqual(['03', '02', '01'])
})

test('gives runs that began in one second by the milliseconds of their reports', async () => {
  const output = tempFolder()
  mkdirSync(join(output, 'runs'))
  const begun = { aaaaaa: '.300Z', bbbbbb: '.100Z', cccccc: '.200Z' }
  for (const [run, ms] of Object.entries(begun))
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
])('passes over a report that says %s', async (text) => {
  const output = tempFolder()
  mkdirSync(join(output, 'runs'))
  writeFileSync(join(output, 'runs', '20250101T000000Z-abc.json'), text)
  writeFileSync(join(output, 'runs', 'notes.json'), JSON.stringify(RUN))
  expect(await readPastRuns(output)).toEqual([])
})

test('gives nothing where no run left a report', async () => {
  expect(await readPastRuns(join(tempFolder(), 'nowhere'))).toEqual([])
})
