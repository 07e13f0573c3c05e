import { createHash } from 'node:crypto'
import * as v from 'valibot'
import { uniteRanges } from '../core/block-ranges.ts'
import { ExportError } from '../core/errors.ts'
import { parseJson } from '../core/json-text.ts'
import { limitConcurrency } from '../core/limit.ts'
import type { BlockRange } from '../core/model.ts'
import type { PartitionStarts } from './partition-starts.ts'
import { type Plan, walletsOf } from './plan.ts'
import { planReads, rangesByWallet } from './plan-units.ts'
import type { Record } from './record.ts'
import { address, block, parseAs, parseTextAs, sha256, token } from './schemas.ts'
import { COVERED, type Covered } from './unit.ts'

/** What one execution of a read has added to an attempt; bound to it, to its plan and to the pages by their hash. */
export type Read = {
  attempt: string
  plan: string
  token: string
  chain: string
  /** The wallets that it covers, in the order of their numbers. */
  addresses: readonly string[]
  covered: Covered
  /** SHA-256 of the file with the pages. */
  sha256: string
  /** The first blocks of partitions by time, as far as these pages show. */
  starts: PartitionStarts
}

const READ: v.GenericSchema<unknown, Read> = v.strictObject({
  ...{ attempt: token, plan: sha256, token, chain: v.string(), addresses: v.array(address) },
  ...{ covered: COVERED, sha256, starts: v.record(v.pipe(v.string(), v.regex(/^[a-z0-9=-]{1,40}$/)), block) },
})

/** Objects that are read at once. */
const AT_ONCE = 16

export const pagesPath = (token: string): string => `pages/${token}.pages`
const readPath = (token: string) => `reads/${token}.json`
const READ_PATH = /\/reads\/([0-9a-f]{16})\.json$/

export const putRead = ({ objects, at }: Record, read: Read): Promise<void> =>
  objects.putText(at(readPath(read.token)), JSON.stringify(read))

/** How many reads an attempt has. */
export async function countReads({ objects, at }: Record): Promise<number> {
  return (await objects.paths(at('reads/'))).length
}

/** Reads the reads of an attempt; those that are known already are not read again. */
export function createReads(record: Record, plan: Plan): { list(): Promise<Read[]> } {
  const known = new Map<string, Promise<Read | undefined>>()
  const limit = limitConcurrency(AT_ONCE)
  return {
    list: async () => {
      const paths = [...(await record.objects.paths(record.at('reads/')))].sort()
      const found = paths.map((path) => {
        const [, name = ''] = READ_PATH.exec(path) ?? []
        const one = known.get(path) ?? limit(() => loadRead(record, plan, name))
        // What could not be read is read again the next time.
        one.catch(() => known.delete(path))
        known.set(path, one)
        return one
      })
      return (await Promise.all(found)).flatMap((one) => one ?? [])
    },
  }
}

/** A read by its token; undefined where it is none of this plan. */
async function loadRead(record: Record, plan: Plan, name: string): Promise<Read | undefined> {
  const read = parseTextAs(READ, await record.objects.readText(record.at(readPath(name))))
  return read !== undefined && read.token === name && isOf(plan, read) ? read : undefined
}

/** True where a read names this plan and its wallets, and covers blocks that are to be read of them. */
function isOf(plan: Plan, { attempt, plan: sha256, chain, addresses, covered }: Read): boolean {
  if (attempt !== plan.attempt || sha256 !== plan.sha256 || chain !== plan.job.chain) return false
  const { first, end, from, to } = covered
  const wallets = walletsOf(plan).slice(first, end)
  return (
    wallets.length === end - first &&
    addresses.length === wallets.length &&
    wallets.every((one, at) => one.address === addresses[at] && from >= one.from && to <= one.to)
  )
}

/** Forgets reads of an attempt, and what partitions are made of, so that what they covered is read again. */
export async function forgetReads({ objects, at }: Record, reads: readonly Read[]): Promise<void> {
  await objects.clear(at(READING))
  for (const { token } of reads) await objects.clear(at(readPath(token)))
}

/** Reads that cover all that any of them covers, without those that add nothing: what was read twice counts once. */
export function selectReads(reads: readonly Read[]): Read[] {
  const sizeOf = ({ covered: { first, end, from, to } }: Read) => (end - first) * (to - from)
  const bySize = [...reads].sort((a, b) => sizeOf(b) - sizeOf(a) || (a.token < b.token ? -1 : 1))
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

const READING = 'reading.json'
const READING_SCHEMA = v.strictObject({ attempt: token, reads: v.array(READ) })

/** The reads that all partitions of an attempt are made of, and the hash that names this choice. */
export type Reading = { reads: readonly Read[]; sha256: string }

/** Fixes what partitions are made of; the first choice counts. */
export async function fixReading(record: Record, plan: Plan, reads: readonly Read[]): Promise<Reading> {
  const text = JSON.stringify({ attempt: record.attempt, reads })
  await record.objects.putTextOnce(record.at(READING), text)
  const fixed = await findReading(record, plan)
  if (fixed !== undefined) return fixed
  await record.objects.putText(record.at(READING), text)
  return { reads, sha256: hashOf(text) }
}

/** What partitions are made of; undefined where that is not fixed yet, or does not hold everything that the plan asks for. */
export async function findReading(record: Record, plan: Plan): Promise<Reading | undefined> {
  const text = await record.objects.readText(record.at(READING))
  if (text === undefined) return undefined
  const reading = parseAs(READING_SCHEMA, parseJson(text))
  if (reading === undefined || reading.attempt !== plan.attempt) return undefined
  const isWhole =
    planReads(
      walletsOf(plan),
      reading.reads.map(({ covered }) => covered),
    ).length === 0
  return isWhole && reading.reads.every((read) => isOf(plan, read))
    ? { reads: reading.reads, sha256: hashOf(text) }
    : undefined
}

/** The same; throws where pages are missing. */
export async function requireReading(record: Record, plan: Plan): Promise<Reading> {
  const reading = await findReading(record, plan)
  if (reading !== undefined) return reading
  throw new ExportError('PAGE_MALFORMED', 'pages of the run are missing, so that no partition can be made')
}

const hashOf = (text: string) => createHash('sha256').update(text).digest('hex')
