import type { Job } from '../../../src/core/model/model.ts'
import type { Quirk } from '../../../src/demo-server/quirks.ts'
import { demoWallets, nodeData } from '../node-data.ts'
import { createSeededRandom, type SeededRandom } from '../seeded-random.ts'
import { QUIRK_EFFECTS } from './quirk-effects.ts'

/** A random job against the embedded server, and how it is run. */
export type QuirkJob = {
  quirks: readonly Quirk[]
  fields: Partial<Omit<Job, 'wallets'>> & { addresses: readonly string[] }
  /** The head of the chain during each run. With `grows`, it reaches that block only while the run is in progress. */
  heads: readonly number[]
  grows: boolean
  /** Each run is interrupted after this many requests and continued. */
  maxRequests: number | undefined
  /** Whether the job is run over a queue, where there is one. */
  isQueued: boolean
}

/** Wallets that the quirk `atomic-transfers` changes, and one that has only receipts of internal transactions. */
const ATOMIC = ['0x0d3eb21b6b21833a4939cfff4810e9ae0758e12c', '0x58a57ed9d8d624cbd12e2c467d34787555bb1b25']
const RECEIVER = '0x48a0b31dd707cfb02cbc8706fe88c676630a796b'

/** The wallets but the largest ones, whose exports would take most of the time, and one of these. */
const SMALL = demoWallets.filter((address) => itemsOf(address) <= 250)
const LARGE = demoWallets.filter((address) => itemsOf(address) > 250 && itemsOf(address) <= 1_000)

function itemsOf(wallet: string): number {
  const [, membership] =
    Object.entries(nodeData.membership).find(([one]) => one.toLowerCase() === wallet) ?? []
  return membership?.items ?? 0
}

export function randomQuirkJob(seed: number): QuirkJob {
  const random = createSeededRandom(seed)
  const quirks = pickQuirks(random)
  const isQueued = random.next() < 0.25
  const isIncremental = random.next() < 0.5 && !isQueued
  const startBlock = random.pick([0, 0, 0, random.between(1, 250)])
  const last = random.pick([420, random.between(startBlock + 60, 420)])
  const isFull = random.next() < (quirks.includes('no-internal-receipts') ? 0.6 : 0.2)
  return {
    quirks,
    fields: {
      addresses: pickWallets(random, quirks),
      startBlock,
      endBlock: isIncremental ? undefined : last + 1,
      ...pickOptions(random),
      ...(isQueued && {
        partitionBy: random.pick(['blocks:60', 'blocks:150'] as const),
        keepRaw: false,
      }),
      internals: isFull ? 'full' : 'listing',
      atomic: random.next() < (quirks.includes('atomic-transfers') ? 0.6 : 0.1),
    },
    heads: isIncremental ? pickHeads(random, { startBlock, last }) : [last],
    grows: isIncremental && random.next() < 0.6,
    // A page is stored only once both listings of its blocks have been read.
    maxRequests: isQueued
      ? undefined
      : random.pick([undefined, undefined, random.between(30, 60) * (isFull ? 2 : 1)]),
    isQueued,
  }
}

function pickQuirks(random: SeededRandom): Quirk[] {
  const known = Object.keys(QUIRK_EFFECTS) as (keyof typeof QUIRK_EFFECTS)[]
  const first = random.pick(known)
  return known.filter((quirk) => quirk === first || random.next() < 0.3)
}

function pickWallets(random: SeededRandom, quirks: readonly Quirk[]): string[] {
  const affected = [
    ...(quirks.includes('atomic-transfers') ? [random.pick(ATOMIC)] : []),
    ...(quirks.includes('no-internal-receipts') && random.next() < 0.5 ? [RECEIVER] : []),
  ]
  const small = SMALL.filter((address) => affected.includes(address) || random.next() < 0.08)
  const picked = [...small, ...(random.next() < 0.15 ? [random.pick(LARGE)] : [])]
  return picked.length === 0 ? [random.pick(SMALL)] : picked
}

function pickHeads(
  random: SeededRandom,
  { startBlock, last }: { startBlock: number; last: number },
): number[] {
  const middle = Array.from({ length: random.between(1, 2) }, () => random.between(startBlock + 1, last))
  return [...middle.sort((a, b) => a - b), last]
}

function pickOptions(random: SeededRandom): Partial<Omit<Job, 'wallets'>> {
  const format = random.pick(['csv', 'csv', 'parquet'] as const)
  return {
    format,
    compression: format === 'csv' ? random.pick(['none', 'gzip'] as const) : 'zstd',
    fees: random.pick(['auto', 'exact', 'listed'] as const),
    feesBudget: random.pick([2_000, 2_000, 5]),
    wraps: random.pick(['ledger', 'ledger', 'off'] as const),
    concurrency: random.pick([1, 3, 16]),
    keepRaw: random.next() < 0.2,
    maxRowsPerFile: random.pick([1_000_000, 300]),
  }
}
