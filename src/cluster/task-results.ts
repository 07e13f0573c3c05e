import type * as v from 'valibot'
import { limitConcurrency } from '../core/platform/limit-concurrency.ts'
import type { Plan } from './plan.ts'
import type { Record } from './run-state.ts'
import { parseTextAs } from './schemas.ts'

/** What one execution of a unit has added to an attempt: bound to it and to its plan, under a token of its own. */
type Noted = { attempt: string; plan: string; token: string }

/** The notes of one kind of unit in an attempt. */
export type Notes<T extends Noted> = {
  put(record: Record, note: T): Promise<void>
  /** How many an attempt has. */
  count(record: Record): Promise<number>
  /** Opens those of an attempt: `list` reads them, in the order of their tokens, and each of them once. */
  open(record: Record, plan: Plan): { list(): Promise<T[]> }
  /** Removes the note of this token. */
  forget(record: Record, token: string): Promise<void>
}

type Noting<T> = {
  /** The folder in the attempt. */
  folder: string
  schema: v.GenericSchema<unknown, T>
  /** Whether a note of this attempt and plan fits the plan. @default it does */
  isOf?: (plan: Plan, note: T) => boolean
}

/** Objects that are read at once. */
const AT_ONCE = 16

const NAME = /\/([0-9a-f]{16})\.json$/

export function notesOf<T extends Noted>({ folder, schema, isOf = () => true }: Noting<T>): Notes<T> {
  const pathOf = ({ at }: Record, token: string) => at(`${folder}/${token}.json`)
  const pathsIn = ({ objects, at }: Record) => objects.paths(at(`${folder}/`))
  const load = async (record: Record, plan: Plan, name: string): Promise<T | undefined> => {
    const note = parseTextAs(schema, await record.objects.readText(pathOf(record, name)))
    const isOurs = note?.token === name && note.attempt === plan.attempt && note.plan === plan.sha256
    return isOurs && isOf(plan, note) ? note : undefined
  }
  return {
    put: (record, note) => record.objects.putText(pathOf(record, note.token), JSON.stringify(note)),
    count: async (record) => (await pathsIn(record)).length,
    open: (record, plan) => {
      const known = new Map<string, Promise<T | undefined>>()
      const limit = limitConcurrency(AT_ONCE)
      const read = (path: string) => {
        const [, name = ''] = NAME.exec(path) ?? []
        const one = known.get(path) ?? limit(() => load(record, plan, name))
        // What could not be read is read again the next time.
        one.catch(() => known.delete(path))
        known.set(path, one)
        return one
      }
      return {
        list: async () => {
          const paths = [...(await pathsIn(record))].sort()
          return (await Promise.all(paths.map(read))).flatMap((one) => one ?? [])
        },
      }
    },
    forget: (record, token) => record.objects.clear(pathOf(record, token)),
  }
}
