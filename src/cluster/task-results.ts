import type * as v from 'valibot'
import { limitConcurrency } from '../core/platform/limit-concurrency.ts'
import type { Plan } from './plan.ts'
import type { RunState } from './run-state.ts'
import { parseTextAs } from './schemas.ts'

/** What one execution of a unit has added to an attempt: bound to it and to its plan, under a token of its own. */
type TaskResult = { attempt: string; plan: string; token: string }

/** The notes of one kind of unit in an attempt. */
export type TaskResults<T extends TaskResult> = {
  put(runState: RunState, result: T): Promise<void>
  /** How many an attempt has. */
  count(runState: RunState): Promise<number>
  /** Opens those of an attempt: `list` reads them, in the order of their tokens, and each of them once. */
  open(runState: RunState, plan: Plan): { list(): Promise<T[]> }
  /** Removes the note of this token. */
  remove(runState: RunState, token: string): Promise<void>
}

type TaskResultOptions<T> = {
  /** The folder in the attempt. */
  folder: string
  schema: v.GenericSchema<unknown, T>
  /** Whether a note of this attempt and plan fits the plan. @default it does */
  belongsTo?: (plan: Plan, result: T) => boolean
}

/** Objects that are read at once. */
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
        // What could not be read is read again the next time.
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
