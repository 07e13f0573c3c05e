import { createHash } from 'node:crypto'
import * as v from 'valibot'
import { openPageLog, type PageLog } from '../checkpoint/inspect-checkpoint.ts'
import { gapsIn, unionRanges } from '../core/model/block-ranges.ts'
import { ExportError } from '../core/model/errors.ts'
import type { Gap } from '../core/model/gaps.ts'
import { walletOf } from '../core/model/listings.ts'
import type { OpeningBalance } from '../core/model/manifest.ts'
import type { BlockRange } from '../core/model/model.ts'
import { describeRefusal, REFUSAL_CODES } from '../export/fetch/wallet-refusals.ts'
import { nativeOpening } from '../export/resume/gaps.ts'
import { indexedEnds } from '../export/resume/previous-export.ts'
import { type Plan, walletsOf } from './plan.ts'
import { RESULT_FIELDS, type RunState, taskResults, verifiedPath } from './run-state.ts'
import { block, listing, parseTextAs, sha256, token } from './schemas.ts'
import { COVERED_SCHEMA, planReads, rangesByWallet } from './tasks.ts'

/** A refused wallet. Its pages cover the blocks up to `reached`, exclusive. */
const REFUSED_SCHEMA = v.strictObject({
  address: listing,
  error: v.string(),
  code: v.picklist(REFUSAL_CODES),
  reached: block,
})
export type RefusedListing = v.InferOutput<typeof REFUSED_SCHEMA>

const READ_SCHEMA = v.strictObject({
  ...RESULT_FIELDS,
  chain: v.string(),
  /** Names of the covered listings, by number. */
  addresses: v.array(listing),
  /** Blocks that need no further request: those covered by the pages and those that the service refused. */
  covered: COVERED_SCHEMA,
  /** Wallets among them that the service refused. */
  refused: v.array(REFUSED_SCHEMA),
  /** Blocks that the pages cover although the service could not list them completely. */
  gaps: v.array(
    v.strictObject({ address: listing, listing: v.string(), from: block, to: block, reason: v.string() }),
  ),
  /** Coins that wallets held before their first transaction. */
  opening: v.array(v.strictObject({ address: listing, value: v.pipe(v.string(), v.regex(/^\d{1,78}$/)) })),
  /** By listing, the highest block in its pages that was indexed in all listings of the service. */
  newest: v.record(listing, block),
  /** SHA-256 of the file with the pages. */
  sha256,
  /** First blocks of partitions by time, as far as these pages show. */
  starts: v.record(v.pipe(v.string(), v.regex(/^[a-z0-9=-]{1,40}$/)), block),
})

/** The result of one execution of a read task, bound to its attempt, its plan and, by a hash, to its pages. */
export type ReadResult = v.InferOutput<typeof READ_SCHEMA>

export const pagesPath = (token: string): string => `pages/${token}.pages`

/** The read results of an attempt. */
export const READ_RESULTS = taskResults('reads', READ_SCHEMA, belongsToPlan)

/** Whether a read result belongs to this plan and its wallets and covers only blocks of it. */
function belongsToPlan(plan: Plan, read: ReadResult): boolean {
  const { attempt, plan: sha256, chain, addresses, covered, refused } = read
  if (attempt !== plan.attempt || sha256 !== plan.sha256 || chain !== plan.job.chain) return false
  const { first, end, from, to } = covered
  const wallets = walletsOf(plan).slice(first, end)
  return (
    wallets.length === end - first &&
    addresses.length === wallets.length &&
    wallets.every(
      (wallet, at) => wallet.address === addresses[at] && from >= wallet.from && to <= wallet.to,
    ) &&
    refused.every(({ address, reached }) => addresses.includes(address) && reached >= from && reached < to)
  )
}

/** Removes reads and the selection of an attempt, so that the blocks are read again. */
export async function removeReads(runState: RunState, reads: readonly ReadResult[]): Promise<void> {
  await runState.objects.clear(runState.at(SELECTION_FILE))
  for (const { token } of reads) await READ_RESULTS.remove(runState, token)
}

/** Removes reads with refused wallets or gaps, so that these are requested again. */
export async function removeIncompleteReads(runState: RunState, plan: Plan): Promise<void> {
  const all = await READ_RESULTS.list(runState, plan)
  const incomplete = all.filter(({ refused, gaps }) => refused.length + gaps.length > 0)
  if (incomplete.length > 0) await removeReads(runState, incomplete)
}

/** The blocks of each wallet, by wallet number, that the pages of a read contain. */
function coveredBy({ addresses, covered, refused }: ReadResult): Map<number, BlockRange[]> {
  const reached = new Map(refused.map(({ address, reached }) => [address, reached]))
  const ranges = [...rangesByWallet([covered])].map(([wallet, all]) => {
    const limit = reached.get(addresses[wallet - covered.first] ?? '') ?? Number.POSITIVE_INFINITY
    const clipped = all.map(({ from, to }) => ({ from, to: Math.min(to, limit) }))
    return [wallet, clipped.filter(({ from, to }) => from < to)] as const
  })
  return new Map(ranges)
}

/**
 * Selects reads that together cover everything that any of them covers, without redundant ones. Reads without
 * refusals and gaps come first, so that these count only if no other read has the blocks.
 */
export function selectReads(reads: readonly ReadResult[]): ReadResult[] {
  const sizeOf = ({ covered: { first, end, from, to } }: ReadResult) => (end - first) * (to - from)
  const lacking = ({ refused, gaps }: ReadResult) => refused.length + gaps.length
  const bySize = [...reads].sort(
    (a, b) => lacking(a) - lacking(b) || sizeOf(b) - sizeOf(a) || (a.token < b.token ? -1 : 1),
  )
  const coveredByWallet = new Map<number, BlockRange[]>()
  const selected = bySize.filter(({ covered }) => {
    const own = [...rangesByWallet([covered])]
    const addsCoverage = own.some(([wallet, ranges]) =>
      ranges.some(
        ({ from, to }) => !coveredByWallet.get(wallet)?.some((range) => range.from <= from && range.to >= to),
      ),
    )
    if (addsCoverage)
      for (const [wallet, ranges] of own)
        coveredByWallet.set(wallet, unionRanges([...(coveredByWallet.get(wallet) ?? []), ...ranges]))
    return addsCoverage
  })
  return selected.sort((a, b) => (a.token < b.token ? -1 : 1))
}

/** The wallets of which the service refused a listing, each with the block up to which all pages are complete. */
export function refusedWallets(plan: Plan, reads: readonly ReadResult[]): RefusedTo[] {
  const wallets = new Map<string, RefusedTo>()
  for (const listing of refusedListings(plan, reads)) {
    const address = walletOf(listing.address)
    const wallet = wallets.get(address) ?? {
      ...listing,
      address,
      error: describeRefusal(listing.address, listing.error),
    }
    wallets.set(address, { ...wallet, toBlock: Math.min(wallet.toBlock, listing.toBlock) })
  }
  return [...wallets.values()]
}

type RefusedTo = RefusedListing & { toBlock: number }

/** The listings that the service refused, each with the block up to which its pages are complete, exclusive. */
export function refusedListings(plan: Plan, reads: readonly ReadResult[]): RefusedTo[] {
  const refused = new Map(
    reads.flatMap((read) => read.refused.map((listing) => [listing.address, listing] as const)),
  )
  if (refused.size === 0) return []
  const coveredByWallet = new Map<number, BlockRange[]>()
  for (const read of reads)
    for (const [wallet, ranges] of coveredBy(read))
      coveredByWallet.set(wallet, [...(coveredByWallet.get(wallet) ?? []), ...ranges])
  return walletsOf(plan).flatMap(({ address, from, to }, wallet) => {
    const listing = refused.get(address)
    const [missing] = gapsIn(unionRanges(coveredByWallet.get(wallet) ?? []), { from, to })
    return listing === undefined || missing === undefined ? [] : [{ ...listing, toBlock: missing.from }]
  })
}

/** By wallet, the blocks that the service could not list completely. */
export function gapsOfReads(reads: readonly ReadResult[]): ReadonlyMap<string, readonly Gap[]> {
  const gaps = new Map<string, Gap[]>()
  for (const read of reads)
    for (const { address, ...gap } of read.gaps) gaps.set(address, [...(gaps.get(address) ?? []), gap])
  return gaps
}

/** The coins that wallets held before their first transaction, once per wallet. */
export function openingOfReads(reads: readonly ReadResult[]): OpeningBalance[] {
  const coins = new Map(reads.flatMap(({ opening }) => opening.map(({ address, value }) => [address, value])))
  return [...coins].map(([address, value]) => nativeOpening(address, value))
}

/** The highest block of each listing, highest first. */
export function newestBlocksOf(reads: readonly ReadResult[]): [listing: string, block: number][] {
  const newest = new Map<string, number>()
  for (const read of reads)
    for (const [name, block] of Object.entries(read.newest))
      newest.set(name, Math.max(block, newest.get(name) ?? 0))
  return [...newest].sort(([, a], [, b]) => b - a)
}

/** By wallet, the exclusive end of the blocks that the service had indexed when it answered for the wallet. */
export function indexedEndsOf(
  { job, range }: Pick<Plan, 'job' | 'range'>,
  { reads, isProven }: Pick<ReadSelection, 'reads' | 'isProven'>,
): ReadonlyMap<string, number> {
  const newest = new Map(newestBlocksOf(reads))
  const indexedTo = (name: string) =>
    isProven ? range.to : Math.max(range.from, Math.min(range.to, (newest.get(name) ?? -1) + 1))
  return indexedEnds(job, { indexedTo })
}

const PROOF_FILE = 'proof.json'
const PROOF_SCHEMA = v.strictObject({ isProven: v.boolean() })

/** Whether the service had indexed the whole range before the reads of an attempt; undefined if the service has not been asked yet. */
export async function loadProof({ objects, at }: RunState): Promise<boolean | undefined> {
  return parseTextAs(PROOF_SCHEMA, await objects.readText(at(PROOF_FILE)))?.isProven
}

export async function saveProof({ objects, at }: RunState, isProven: boolean): Promise<boolean> {
  await objects.putText(at(PROOF_FILE), JSON.stringify({ isProven }))
  return isProven
}

const SELECTION_FILE = 'reading.json'
const SELECTION_SCHEMA = v.strictObject({
  attempt: token,
  end: block,
  isProven: v.boolean(),
  reads: v.array(READ_SCHEMA),
})

/**
 * The selection from which all partitions of an attempt are written: reads, the end of the export, whether the service
 * had indexed the whole range before they were made, and a hash that identifies the selection.
 */
export type ReadSelection = { reads: readonly ReadResult[]; end: number; isProven: boolean; sha256: string }

/** Fixes the selection for the partitions. The first saved selection wins. */
export async function saveSelection(
  runState: RunState,
  plan: Plan,
  { reads, end, isProven }: Omit<ReadSelection, 'sha256'>,
): Promise<ReadSelection> {
  const text = JSON.stringify({ attempt: runState.attempt, end, isProven, reads })
  await runState.objects.putTextIfAbsent(runState.at(SELECTION_FILE), text)
  const saved = await loadSelection(runState, plan)
  if (saved !== undefined) return saved
  await runState.objects.putText(runState.at(SELECTION_FILE), text)
  return { reads, end, isProven, sha256: hashOf(text) }
}

/** Loads the selection; undefined if there is none yet or it does not cover the whole plan. */
export async function loadSelection(runState: RunState, plan: Plan): Promise<ReadSelection | undefined> {
  const text = await runState.objects.readText(runState.at(SELECTION_FILE))
  if (text === undefined) return undefined
  const selection = parseTextAs(SELECTION_SCHEMA, text)
  if (selection === undefined || selection.attempt !== plan.attempt) return undefined
  const { reads, end, isProven } = selection
  const isComplete =
    planReads(
      walletsOf(plan),
      reads.map(({ covered }) => covered),
    ).length === 0
  const isEndInRange = end >= plan.range.from && end <= plan.range.to
  return isComplete && isEndInRange && reads.every((read) => belongsToPlan(plan, read))
    ? { reads, end, isProven, sha256: hashOf(text) }
    : undefined
}

/** Like `loadSelection`, but throws if pages are missing. */
export async function requireSelection(runState: RunState, plan: Plan): Promise<ReadSelection> {
  const selection = await loadSelection(runState, plan)
  if (selection !== undefined) return selection
  throw new ExportError('PAGE_MALFORMED', 'pages of the run are missing, so its partitions cannot be written')
}

const hashOf = (text: string) => createHash('sha256').update(text).digest('hex')

/** Opens the pages of a read. Throws OUTPUT_FAILED if they do not match their record. */
export async function openReadPages(runState: RunState, read: ReadResult): Promise<PageLog> {
  const log = await openPageLog(await verifiedPath(runState, pagesPath(read.token), read.sha256))
  requireCovered(read, log)
  return log
}

/**
 * Throws OUTPUT_FAILED if pages are of other wallets or blocks than recorded, or do not cover the recorded
 * blocks.
 */
function requireCovered(read: ReadResult, { identity, pages }: PageLog): void {
  const { chain, addresses, covered, token } = read
  const { first, from, to } = covered
  const rangesByAddress = new Map<string, BlockRange[]>()
  for (const { wallet, covered } of pages)
    rangesByAddress.set(wallet, [...(rangesByAddress.get(wallet) ?? []), covered])
  const hasExpectedWallets = [...rangesByAddress.keys()].every((wallet) => addresses.includes(wallet))
  const matchesPlan = identity?.chain === chain && identity.startBlock === from && identity.endBlock === to
  const isComplete = [...coveredBy(read)].every(([wallet, expected]) => {
    const coveredRanges = unionRanges(rangesByAddress.get(addresses[wallet - first] ?? '') ?? [])
    return expected.every((range) => gapsIn(coveredRanges, range).length === 0)
  })
  if (hasExpectedWallets && matchesPlan && isComplete) return
  throw new ExportError('OUTPUT_FAILED', `the pages ${token} of the run do not match their record`)
}
