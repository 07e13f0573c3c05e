// @module-tag long

import { expect, test } from 'vitest'
import type { CrashJob } from '../../helpers/crash-jobs.ts'
import { baselineOf, resumeFromEveryState } from '../../helpers/crash-run.ts'
import { addresses } from '../../helpers/faulty-run.ts'

const labelled = addresses.map((address) => ({ address, label: 'treasury' }))
const fields = {
  chain: '43114',
  endBlock: undefined,
  addresses: labelled,
  concurrency: 3,
  tables: ['ledger'],
}
const previous = { fields: { addresses } }
const options = ['--lookback', '100']

const JOBS: readonly CrashJob[] = [
  {
    what: 'blocks with new labels and new blocks',
    fields,
    options,
    previous: { ...previous, head: 250 },
    exit: 0,
  },
  // The files keep their names, so the manifest must be removed before they are replaced.
  { what: 'blocks with new labels under the same names', fields, options, previous, exit: 0 },
]

test.for(JOBS.flatMap((job) => (['kill', 'power-cut'] as const).map((event) => ({ job, event }))))(
  'a $event while $job.what are published keeps one complete change list',
  async ({ job, event }) => {
    const { bytes } = await baselineOf(job)
    expect(Object.keys(bytes).filter((path) => path.startsWith('changes/'))).toHaveLength(1)
    expect(await resumeFromEveryState(job, event)).toBeGreaterThan(10)
  },
)
