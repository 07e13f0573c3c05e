import { type Assignment, createReadPlan, type Range } from '../../../src/export/fetch/read-plan.ts'

type Simulated = {
  /** Milliseconds of virtual time until all was read. */
  timeMs: number
  requests: number
  /** Most requests in flight at once. */
  most: number
  /** Items that no reader was shown. */
  missing: number
  isOver: boolean
}

export type Simulation = {
  /** Rising blocks of each wallet's items. */
  histories: readonly (readonly number[])[]
  /** Exclusive end of the asked blocks. */
  end: number
  readers: number
  random: () => number
  order?: Range['order']
  /** Least and most milliseconds of an answer. */
  delayMs?: readonly [number, number]
}

type Flight = { at: number; claim: Assignment; wallet: number; first: number; last: number }
const PAGE = 100

/** Reads histories by a plan in virtual time: an idle reader claims, a claim asks page after page. */
export function simulate({
  histories,
  end,
  readers,
  random,
  order = 'asc',
  delayMs = [80, 160],
}: Simulation) {
  const pieces = histories.map(
    (_, at): Range => ({ address: String(at), range: { from: 0, to: end }, order }),
  )
  const plan = createReadPlan(pieces)
  const shown = histories.map((blocks) => new Uint8Array(blocks.length))
  const flights: Flight[] = []
  const result: Simulated = { timeMs: 0, requests: 0, most: 0, missing: 0, isOver: false }
  const send = (flight: Omit<Flight, 'at'>) => {
    result.requests += 1
    flights.push({ ...flight, at: result.timeMs + delayMs[0] + random() * (delayMs[1] - delayMs[0]) })
    result.most = Math.max(result.most, flights.length)
  }
  const claimAll = () => {
    while (flights.length < readers) {
      const claim = plan.assign()
      if (claim === undefined) return
      const blocks = histories[Number(claim.address)] ?? []
      const [first, last] = [placeOf(blocks, claim.range.from), placeOf(blocks, claim.range.to)]
      send({ claim, wallet: Number(claim.address), first, last })
    }
  }
  for (claimAll(); flights.length > 0; claimAll()) {
    flights.sort((a, b) => a.at - b.at)
    const flight = flights.shift() as Flight
    result.timeMs = flight.at
    const next = receive(flight, histories, shown)
    if (next !== undefined) send(next)
  }
  result.missing = shown.reduce((sum, flags) => sum + flags.reduce((none, flag) => none + 1 - flag, 0), 0)
  result.isOver = plan.isComplete()
  return result
}

/** Shows the reader its page; gives its next request. */
function receive(flight: Flight, histories: Simulation['histories'], shown: readonly Uint8Array[]) {
  const { claim, wallet, first, last } = flight
  const blocks = histories[wallet] ?? []
  const isUp = claim.order === 'asc'
  const count = Math.min(PAGE, last - first)
  const [from, to] = isUp ? [first, first + count] : [last - count, last]
  shown[wallet]?.fill(1, from, to)
  if (last - first <= PAGE) return claim.finish()
  const [min = 0, max = 0] = [blocks[from], blocks[to - 1]]
  const rest = restAfter({ blocks, isUp, min, max }, claim.range)
  const wanted = claim.recordPage(rest, { items: count, blocks: { min, max } })
  if (wanted === undefined) return claim.finish()
  return { claim, wallet, first: isUp ? to : first, last: isUp ? last : from }
}

type Received = { blocks: readonly number[]; isUp: boolean; min: number; max: number }

/** What lies before the last block of a page is settled, which has its second for itself. */
function restAfter({ blocks, isUp, min, max }: Received, { from, to }: Assignment['range']) {
  if (isUp) return { from: Math.max(from, (blocks[placeOf(blocks, max) - 1] ?? -1) + 1), to }
  return { from, to: Math.min(to, blocks[placeOf(blocks, min + 1)] ?? to) }
}

function placeOf(blocks: readonly number[], block: number): number {
  let [low, high] = [0, blocks.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if ((blocks[middle] ?? 0) < block) low = middle + 1
    else high = middle
  }
  return low
}

/** Numbers in [0, 1) that are the same for the same seed. */
export function seeded(seed: number): () => number {
  let state = seed
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    return state / 2 ** 32
  }
}
