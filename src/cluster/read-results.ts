import { createHash } from 'node:crypto'
import * as v from 'valibot'
import { rangesBetween, uniteRanges } from '../core/model/block-ranges.ts'
import { ExportError } from '../core/model/errors.ts'
import type { BlockRange } from '../core/model/model.ts'
import type { RefusedWallet } from '../core/model/run-stats.ts'
import { parseJson } from '../core/platform/json-text.ts'
import { REFUSAL_CODES } from '../export/fetch/wallet-refusals.ts'
import type { PartitionStarts } from './partition-starts.ts'
import { type Plan, walletsOf } from './plan.ts'
import { planReads, rangesByWallet } from './plan-tasks.ts'
import type { Record } from './run-state.ts'
import { address, block, parseAs, sha256, token } from './schemas.ts'
import { COVERED, type Covered } from './task.ts'
import { notesOf } from './task-results.ts'

/** What one execution of a read has added to an attempt; bound to it, to its plan and to the pages by their hash. */
export type Read = {
  attempt: string
  plan: string
  token: string
  chain: string
  /** The wallets that it covers, in the order of their numbers. */
  addresses: readonly string[]
  /** What need not be read any more: the blocks that the pages cover, and those that the service refused. */
  covered: Covered
  /** Wallets among them whose listing the service refused. */
  refused: readonly RefusedListing[]
  /** The highest block that was there before the run began, and the wallet whose pages show it; null where they show none. */
  newest: Newest | null
  /** SHA-256 of the file with the pages. */
  sha256: string
  /** The first blocks of partitions by time, as far as these pages show. */
  starts: PartitionStarts
}

/** A wallet that was refused: its pages cover its blocks up to `reached`. */
export type RefusedListing = RefusedWallet & { code: (typeof REFUSAL_CODES)[number]; reached: number }

export type Newest = { wallet: string; block: number }

const REFUSED: v.GenericSchema<unknown, RefusedListing> = v.strictObject({
  ...{ address, error: v.string(), code: v.picklist(REFUSAL_CODES), reached: block },
})
const NEWEST: v.GenericSchema<unknown, Newest> = v.strictObject({ wallet: address, block })

const READ: v.GenericSchema<unknown, Read> = v.strictObject({
  ...{ attempt: token, plan: sha256, token, chain: v.string(), addresses: v.array(address) },
  ...{ covered: COVERED, refused: v.array(REFUSED), newest: v.nullable(NEWEST), sha256 },
  starts: v.record(v.pipe(v.string(), v.regex(/^[a-z0-9=-]{1,40}$/)), block),
})

export const pagesPath = (token: string): string => `pages/${token}.pages`

/** The reads of an attempt. */
export const READS = notesOf({ folder: 'reads', schema: READ, isOf })

/** True where a read names this plan and its wallets, and covers blocks that are to be read of them. */
function isOf(plan: Plan, read: Read): boolean {
  const { attempt, plan: sha256, chain, addresses, covered, refused } = read
  if (attempt !== plan.attempt || sha256 !== plan.sha256 || chain !== plan.job.chain) return false
  const { first, end, from, to } = covered
  const wallets = walletsOf(plan).slice(first, end)
  return (
    wallets.length === end - first &&
    addresses.length === wallets.length &&
    wallets.every((one, at) => one.address === addresses[at] && from >= one.from && to <= one.to) &&
    refused.every((one) => addresses.includes(one.address) && one.reached >= from && one.reached < to)
  )
}

/** Forgets reads of an attempt, and what partitions are made of, so that what they covered is read again. */
export async function forgetReads(record: Record, reads: readonly Read[]): Promise<void> {
  await record.objects.clear(record.at(READING))
  for (const { token } of reads) await READS.forget(record, token)
}

/** Leaves wallets that were refused to be asked for again. */
export async function forgetRefused(record: Record, plan: Plan): Promise<void> {
  const refused = (await READS.open(record, plan).list()).filter((read) => read.refused.length > 0)
  if (refused.length > 0) await forgetReads(record, refused)
}

/** The blocks of each wallet, by its number, that the pages of a read have. */
export function shownBy({ addresses, covered, refused }: Read): Map<number, BlockRange[]> {
  const reached = new Map(refused.map((one) => [one.address, one.reached]))
  const ranges = [...rangesByWallet([covered])].map(([wallet, all]) => {
    const most = reached.get(addresses[wallet - covered.first] ?? '') ?? Number.POSITIVE_INFINITY
    const shown = all.map(({ from, to }) => ({ from, to: Math.min(to, most) }))
    return [wallet, shown.filter(({ from, to }) => from < to)] as const
  })
  return new Map(ranges)
}

/**
 * Reads that cover all that any of them covers, without those that add nothing: what was read twice counts once, and a refusal
 * only where no other read has the blocks.
 */
export function selectReads(reads: readonly Read[]): Read[] {
  const sizeOf = ({ covered: { first, end, from, to } }: Read) => (end - first) * (to - from)
  const bySize = [...reads].sort(
    (a, b) => a.refused.length - b.refused.length || sizeOf(b) - sizeOf(a) || (a.token < b.token ? -1 : 1),
  )
  const have = new Map<number, BlockRange[]>()
  const selected = bySize.filter(({ covered }) => {
    const own = [...rangesByWallet([covered])]
    const adds = own.some(([wallet, ranges]) =>
      ranges.some(({ from, to }) => !have.get(wallet)?.some((one) => one.from <= from && one.to >= to)),
    )
    if (adds)
      for (const [wallet, ranges] of own)
        have.set(wallet, uniteRanges([...(have.get(wallet) ?? []), ...ranges]))
    return adds
  })
  return selected.sort((a, b) => (a.token < b.token ? -1 : 1))
}

/** Wallets that the service refused, each with the block up to which pages have it, exclusive. */
export function refusedIn(plan: Plan, reads: readonly Read[]): (RefusedListing & { toBlock: number })[] {
  const refused = new Map(reads.flatMap((read) => read.refused.map((one) => [one.address, one] as const)))
  if (refused.size === 0) return []
  const shown = new Map<number, BlockRange[]>()
  for (const read of reads)
    for (const [wallet, ranges] of shownBy(read)) shown.set(wallet, [...(shown.get(wallet) ?? []), ...ranges])
  return walletsOf(plan).flatMap(({ address, from, to }, wallet) => {
    const one = refused.get(address)
    const [lacking] = rangesBetween(uniteRanges(shown.get(wallet) ?? []), { from, to })
    return one === undefined || lacking === undefined ? [] : [{ ...one, toBlock: lacking.from }]
  })
}

/** The highest block of all reads; undefined where they show none. */
export function newestIn(reads: readonly Read[]): Newest | undefined {
  const all = reads.flatMap(({ newest }) => newest ?? [])
  return all.reduce<Newest | undefined>(
    (most, one) => (one.block > (most?.block ?? -1) ? one : most),
    undefined,
  )
}

const READING = 'reading.json'
const READING_SCHEMA = v.strictObject({ attempt: token, end: block, reads: v.array(READ) })

/** What all partitions of an attempt are made of: reads, the blocks up to the end, and the hash that names this choice. */
export type Reading = { reads: readonly Read[]; end: number; sha256: string }

/** Fixes what partitions are made of; the first choice counts. */
export async function fixReading(
  record: Record,
  plan: Plan,
  { reads, end }: Pick<Reading, 'reads' | 'end'>,
): Promise<Reading> {
  const text = JSON.stringify({ attempt: record.attempt, end, reads })
  await record.objects.putTextOnce(record.at(READING), text)
  const fixed = await findReading(record, plan)
  if (fixed !== undefined) return fixed
  await record.objects.putText(record.at(READING), text)
  return { reads, end, sha256: hashOf(text) }
}

/** What partitions are made of; undefined where that is not fixed yet, or does not hold everything that the plan asks for. */
export async function findReading(record: Record, plan: Plan): Promise<Reading | undefined> {
  const text = await record.objects.readText(record.at(READING))
  if (text === undefined) return undefined
  const reading = parseAs(READING_SCHEMA, parseJson(text))
  if (reading === undefined || reading.attempt !== plan.attempt) return undefined
  const { reads, end } = reading
  const isWhole =
    planReads(
      walletsOf(plan),
      reads.map(({ covered }) => covered),
    ).length === 0
  const isInside = end >= plan.range.from && end <= plan.range.to
  return isWhole && isInside && reads.every((read) => isOf(plan, read))
    ? { reads, end, sha256: hashOf(text) }
    : undefined
}

/** The same; throws where pages are missing. */
export async function requireReading(record: Record, plan: Plan): Promise<Reading> {
  const reading = await findReading(record, plan)
  if (reading !== undefined) return reading
  throw new ExportError('PAGE_MALFORMED', 'pages of the run are missing, so that no partition can be made')
}

const hashOf = (text: string) => createHash('sha256').update(text).digest('hex')
