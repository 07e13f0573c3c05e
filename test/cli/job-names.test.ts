import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { readJobs } from '../../src/cli/options/jobs.ts'
import { tempFolder } from '../helpers/temp-folder.ts'
import { LEAST } from '../job/helpers.ts'

/** Creates a folder with job files of these names. */
function jobsNamed(...files: string[]): string {
  const folder = join(tempFolder(), 'jobs')
  mkdirSync(folder)
  for (const [at, file] of files.entries())
    writeFileSync(join(folder, file), `${LEAST}name: job-${at}\nservice: { baseUrl: demo }\n`)
  return folder
}

test('a file whose name looks like a glob is read by its name', async () => {
  const folder = jobsNamed('ours [cold].yaml')
  const [job] = await readJobs([join(folder, 'ours [cold].yaml')], {})
  expect(job?.name).toBe('job-0')
})

test('an absolute glob finds files with spaces in their names and keeps the names', async () => {
  const folder = jobsNamed('b.yaml', 'our treasury.yaml')
  const jobs = await readJobs([join(folder, '*.yaml')], {})
  expect(jobs.map(({ file }) => file)).toEqual(
    ['b.yaml', 'our treasury.yaml'].map((name) => join(folder, name)),
  )
})
