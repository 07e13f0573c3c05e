import { realpathSync } from 'node:fs'
import { join, relative } from 'node:path'
import fc from 'fast-check'
import { checkLocation } from '../../src/cluster/destination.ts'
import { checkQueueJob, PLAN_SCHEMA, planAttempt } from '../../src/cluster/plan.ts'
import { parseTextAs } from '../../src/cluster/schemas.ts'
import { parseRuns } from '../../src/cluster/server.ts'
import { parseTask } from '../../src/cluster/tasks.ts'
import { GENERATOR } from '../../src/core/model/version.ts'
import { testJob } from '../helpers/jobs.ts'
import { mutated } from './mutate.ts'
import type { Target } from './targets.ts'

const ATTEMPT = '0123456789abcdef'
const RUN_ENTRY = {
  id: `many-${ATTEMPT}`,
  name: 'many',
  attempt: ATTEMPT,
  version: GENERATOR,
  output: '/lake',
  store: { bucket: 'lake', prefix: 'many/more', endpoint: 'https://own.example', region: 'here' },
  quota: `walletlake:quota:${'1'.repeat(32)}`,
  signature: 'a'.repeat(64),
}
const TASKS = [
  { kind: 'read', first: 0, end: 2, from: 0, to: 50 },
  { kind: 'write', from: 0, to: 50 },
]
const TASK_BOUNDS = { wallets: 3, range: { from: 0, to: 100 } }
const SERVICE = { baseUrl: 'https://service.example', apiKeyHeader: 'x-key', timeoutMs: 1_000 }
const job = testJob({
  addresses: [`0x${'1'.repeat(40)}`],
  service: SERVICE,
  partitionBy: 'day',
  endBlock: 100,
})
const plan = planAttempt({
  ...checkQueueJob(job),
  destination: { output: '/lake' },
  existing: undefined,
  isFresh: false,
  now: 1,
})

/**
 * Data from Redis and the state of a run over a queue: an entry is used only if it is valid and does not
 * point outside the allowed folders.
 */
export function queueTargets(): Target[] {
  return [
    {
      name: 'runs in a queue',
      input: fc.oneof(
        mutated(RUN_ENTRY).map((value) => JSON.stringify(value)),
        fc.string(),
      ),
      read: async (text, folder) => {
        const root = realpathSync(folder)
        const { runs } = parseRuns({ [RUN_ENTRY.id]: String(text) })
        for (const run of runs) {
          if (/\p{Cc}/u.test(JSON.stringify(run))) throw new Error('a run has a control character')
          if ((await checkLocation(run, [root])) !== undefined) continue
          if (relative(root, join(run.output)).startsWith('..'))
            throw new Error(`${run.output} is outside the root`)
        }
      },
      cost: 1,
    },
    {
      name: 'tasks in a queue',
      input: fc.constantFrom(...TASKS).chain((task) => mutated(task)),
      read: (value) => {
        const task = parseTask(value, TASK_BOUNDS)
        if (task === undefined) return
        // Only the first partition of a run may be empty.
        const isEmpty = task.kind === 'write' && task.from === 0 && task.to === 0
        const isInside = task.from >= 0 && task.from < task.to && task.to <= TASK_BOUNDS.range.to
        if (!(isInside || isEmpty) || (task.kind === 'read' && task.end > TASK_BOUNDS.wallets))
          throw new Error('a task is out of bounds')
      },
      cost: 0.2,
    },
    {
      name: 'plans of runs over a queue',
      input: mutated(JSON.parse(JSON.stringify(plan)) as object).map((value) => JSON.stringify(value)),
      read: (text) => {
        const read = parseTextAs(PLAN_SCHEMA, String(text))
        if (read !== undefined && read.sha256 !== plan.sha256) throw new Error('a modified plan is accepted')
      },
      cost: 1,
    },
  ]
}
