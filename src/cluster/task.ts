import * as v from 'valibot'
import type { BlockRange } from '../core/model/model.ts'
import { block, count, parseAs } from './schemas.ts'

/** Read wallets `[first, end)`, by number, in blocks [from, to). */
export type ReadTask = { kind: 'read'; first: number; end: number } & BlockRange
/** Write the partition of blocks [from, to), which is empty if the chain has not reached the run's first block. */
export type WriteTask = { kind: 'write' } & BlockRange
/** A part of a run that any worker can process. Processing it again has the same outcome. */
export type Task = ReadTask | WriteTask

/** What pages cover: wallets [first, end) in blocks [from, to), the last wallet only up to `reached`, exclusive. */
export type Covered = Omit<ReadTask, 'kind'> & { reached: number }

/** Bounds of valid tasks: the number of wallets, and the blocks of the run. */
export type TaskBounds = { wallets: number; range: BlockRange }

const READ_TASK_SCHEMA = v.pipe(
  v.strictObject({ kind: v.literal('read'), first: count, end: count, from: block, to: block }),
  v.check(({ first, end, from, to }) => first < end && from < to),
)
const WRITE_TASK_SCHEMA = v.pipe(
  v.strictObject({ kind: v.literal('write'), from: block, to: block }),
  v.check(({ from, to }) => from <= to),
)
const TASK_SCHEMA: v.GenericSchema<unknown, Task> = v.union([READ_TASK_SCHEMA, WRITE_TASK_SCHEMA])

export const COVERED_SCHEMA: v.GenericSchema<unknown, Covered> = v.pipe(
  v.strictObject({ first: count, end: count, from: block, to: block, reached: block }),
  v.check(({ first, end, from, to, reached }) => first < end && from < reached && reached <= to),
)

/** Parses a queue entry; undefined if it is not a task or is outside the run. */
export function parseTask(value: unknown, { wallets, range }: TaskBounds): Task | undefined {
  const task = parseAs(TASK_SCHEMA, value)
  if (task === undefined || task.from < range.from || task.to > range.to) return undefined
  if (task.from === task.to && task.from !== range.from) return undefined
  return task.kind === 'read' && task.end > wallets ? undefined : task
}

/** The name of a task in the queue. BullMQ does not allow colons in it. */
export function nameTask(task: Task): string {
  const blocks = `${task.from}-${task.to}`
  return task.kind === 'write' ? `write-${blocks}` : `read-${task.first}-${task.end}-${blocks}`
}

/** Describes a task for messages. */
export function describeTask(task: Task): string {
  const blocks = `blocks ${task.from} to ${task.to - 1}`
  if (task.kind === 'write') return `files of ${blocks}`
  const last = task.end - 1
  return task.first === last
    ? `wallet ${task.first} in ${blocks}`
    : `wallets ${task.first} to ${last} in ${blocks}`
}
