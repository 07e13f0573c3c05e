import type { BlockRange } from '../core/model.ts'

/** Wallets of a plan by number, `first` to before `end`, in blocks [from, to): what is to be read. */
export type ReadUnit = { kind: 'read'; first: number; end: number } & BlockRange
/** A partition whose files are to be made: blocks [from, to). */
export type WriteUnit = { kind: 'write' } & BlockRange
/** A piece of a run that any worker can do, again and again with the same outcome. */
export type Unit = ReadUnit | WriteUnit

/**
 * What pages cover, as the name of their object says it: wallets from `first` to before `end` in blocks [from, to), the last
 * of them up to `reached` only.
 */
export type Covered = Omit<ReadUnit, 'kind'> & { reached: number }

/** The name of a unit in the queue; without a colon, which BullMQ does not take. */
export function nameUnit(unit: Unit): string {
  const blocks = `${unit.from}-${unit.to}`
  return unit.kind === 'write' ? `write-${blocks}` : `read-${unit.first}-${unit.end}-${blocks}`
}

/** The name of an object with pages: its ranges, so that a record can be read from names alone. */
export function nameCovered({ first, end, from, to, reached }: Covered): string {
  return `${[first, end, from, to, reached].join('-')}.pages`
}

/** What a name covers; undefined where it is none of ours. */
export function parseCovered(name: string): Covered | undefined {
  const numbers = NAME.exec(name)?.slice(1).map(Number)
  if (numbers === undefined) return undefined
  const [first = 0, end = 0, from = 0, to = 0, reached = 0] = numbers
  return first < end && from < reached && reached <= to ? { first, end, from, to, reached } : undefined
}

const NAME = /^(\d+)-(\d+)-(\d+)-(\d+)-(\d+)\.pages$/

/** A unit in words, for people. */
export function describeUnit(unit: Unit): string {
  const blocks = `blocks ${unit.from} to ${unit.to - 1}`
  if (unit.kind === 'write') return `the files of ${blocks}`
  const last = unit.end - 1
  return unit.first === last
    ? `wallet ${unit.first} in ${blocks}`
    : `wallets ${unit.first} to ${last} in ${blocks}`
}
