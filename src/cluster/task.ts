import * as v from 'valibot'
import type { BlockRange } from '../core/model/model.ts'
import { block, count, parseAs } from './schemas.ts'

/** Wallets of a plan by number, `first` to before `end`, in blocks [from, to): what is to be read. */
export type ReadUnit = { kind: 'read'; first: number; end: number } & BlockRange
/** A partition whose files are to be made: blocks [from, to); none where the chain has not reached the run's first block. */
export type WriteUnit = { kind: 'write' } & BlockRange
/** A piece of a run that any worker can do, again and again with the same outcome. */
export type Unit = ReadUnit | WriteUnit

/**
 * What pages cover: wallets from `first` to before `end` in blocks [from, to), the last of them up to `reached` only.
 */
export type Covered = Omit<ReadUnit, 'kind'> & { reached: number }

/** What a unit must fit: so many wallets, in these blocks. */
export type Bounds = { wallets: number; range: BlockRange }

const READ = v.pipe(
  v.strictObject({ kind: v.literal('read'), first: count, end: count, from: block, to: block }),
  v.check(({ first, end, from, to }) => first < end && from < to),
)
const WRITE = v.pipe(
  v.strictObject({ kind: v.literal('write'), from: block, to: block }),
  v.check(({ from, to }) => from <= to),
)
const UNIT: v.GenericSchema<unknown, Unit> = v.union([READ, WRITE])

export const COVERED: v.GenericSchema<unknown, Covered> = v.pipe(
  v.strictObject({ first: count, end: count, from: block, to: block, reached: block }),
  v.check(({ first, end, from, to, reached }) => first < end && from < reached && reached <= to),
)

/** The unit in a queue's entry; undefined where it is none, or lies outside of the run. */
export function parseUnit(value: unknown, { wallets, range }: Bounds): Unit | undefined {
  const unit = parseAs(UNIT, value)
  if (unit === undefined || unit.from < range.from || unit.to > range.to) return undefined
  if (unit.from === unit.to && unit.from !== range.from) return undefined
  return unit.kind === 'read' && unit.end > wallets ? undefined : unit
}

/** The name of a unit in the queue; without a colon, which BullMQ does not take. */
export function nameUnit(unit: Unit): string {
  const blocks = `${unit.from}-${unit.to}`
  return unit.kind === 'write' ? `write-${blocks}` : `read-${unit.first}-${unit.end}-${blocks}`
}

/** A unit in words, for people. */
export function describeUnit(unit: Unit): string {
  const blocks = `blocks ${unit.from} to ${unit.to - 1}`
  if (unit.kind === 'write') return `the files of ${blocks}`
  const last = unit.end - 1
  return unit.first === last
    ? `wallet ${unit.first} in ${blocks}`
    : `wallets ${unit.first} to ${last} in ${blocks}`
}
