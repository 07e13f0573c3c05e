import type * as v from 'valibot'
import { limitConcurrency } from '../core/platform/limit-concurrency.ts'
import type { Plan } from './plan.ts'
import type { RunState } from './run-state.ts'
import { parseTextAs } from './schemas.ts'

/** The result of one execution of a task, stored under its own token and bound to an attempt and its plan. */
type TaskResult = { attempt: string; plan: string; token: string }

/** The results of one kind of task in an attempt. */
export type TaskResults<T extends TaskResult> = {
  put(runState: RunState, result: T): Promise<void>
  /** Number of results in an attempt. */
  count(runState: RunState): Promise<number>
  /**
   * Opens the results of an attempt. `list` returns them in the order of their tokens and reads each of them
   * once.
   */
  open(runState: RunState, plan: Plan): { list(): Promise<T[]> }
  /** Removes the result with this token. */
  remove(runState: RunState, token: string): Promise<void>
}

type TaskResultOptions<T> = {
  /** Folder within the attempt. */
  folder: string
  schema: v.GenericSchema<unknown, T>
  /** Whether a result of this attempt and plan is valid for the plan. @default always */
  belongsTo?: (plan: Plan, result: T) => boolean
}

/** Maximum number of concurrent reads. */
const CONCURRENT_READS = 16

const RESULT_PATH = /\/([0-9a-f]{16})\.json$/

export function taskResults<T extends TaskResult>({
  folder,
  schema,
  belongsTo = () => true,
}: TaskResultOptions<T>): TaskResults<T> {
  const pathOf = ({ at }: RunState, token: string) => at(`${folder}/${token}.json`)
  const pathsIn = ({ objects, at }: RunState) => objects.paths(at(`${folder}/`))
  const load = async (runState: RunState, plan: Plan, name: string): Promise<T | undefined> => {
    const result = parseTextAs(schema, await runState.objects.readText(pathOf(runState, name)))
    const isOurs = result?.token === name && result.attempt === plan.attempt && result.plan === plan.sha256
    return isOurs && belongsTo(plan, result) ? result : undefined
  }
  return {
    put: (runState, result) =>
      runState.objects.putText(pathOf(runState, result.token), JSON.stringify(result)),
    count: async (runState) => (await pathsIn(runState)).length,
    open: (runState, plan) => {
      const cache = new Map<string, Promise<T | undefined>>()
      const limit = limitConcurrency(CONCURRENT_READS)
      const read = (path: string) => {
        const [, name = ''] = RESULT_PATH.exec(path) ?? []
        const pending = cache.get(path) ?? limit(() => load(runState, plan, name))
        // A failed read is repeated by the next call.
        pending.catch(() => cache.delete(path))
        cache.set(path, pending)
        return pending
      }
      return {
        list: async () => {
          const paths = [...(await pathsIn(runState))].sort()
          return (await Promise.all(paths.map(read))).flatMap((pending) => pending ?? [])
        },
      }
    },
    remove: (runState, token) => runState.objects.clear(pathOf(runState, token)),
  }
}
