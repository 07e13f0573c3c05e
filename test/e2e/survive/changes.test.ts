// @module-tag long

import { availableParallelism } from 'node:os'
import pLimit from 'p-limit'
import { expect, test } from 'vitest'
import type { CrashJob } from '../../helpers/crash-jobs.ts'
import { baselineOf, crashRun, type Interruption, stepAt } from '../../helpers/crash-run.ts'
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

/** Steps that make a change durable during publishing. */
const BORDER = /^(?:rename|unlink|writev) /

test.for(JOBS)('a kill while $what are published keeps one complete change list', async (job) => {
  const calm = await baselineOf(job)
  expect(Object.keys(calm.bytes).filter((path) => path.startsWith('changes/'))).toHaveLength(1)
  const first = calm.steps.findIndex((step) => step.includes('.changes.json'))
  const last = calm.steps.findLastIndex((step) => step.includes('pages.log'))
  const cuts = calm.steps.flatMap((step, at): Interruption[] => {
    if (at < first || at > last || !BORDER.test(step)) return []
    return [{ how: step.includes('ledger') ? 'power-cut' : 'kill', ...stepAt(calm.steps, at + 1) }]
  })
  expect(cuts.length).toBeGreaterThan(5)
  const together = pLimit(Math.max(2, availableParallelism()))
  const reports = await Promise.all(cuts.map((cut) => together(() => crashRun(job, [cut]))))
  expect(reports.map(({ kills }) => kills)).toEqual(cuts.map(() => 1))
})
