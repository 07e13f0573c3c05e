import { type Assignment, createReadPlan, type Range } from '../../../src/export/fetch/read-plan.ts'
import { dataApi } from '../../../src/sources/data-api/data-api.ts'

type Simulated = {
  /** Virtual time until everything was read, in milliseconds. */
  timeMs: number
  requests: number
  /** Maximum number of requests in flight. */
  most: number
  /** Number of items that no reader received. */
  missing: number
  isComplete: boolean
}

export type Simulation = {
  /** Block numbers of each wallet's items, ascending. */
  histories: readonly (readonly number[])[]
  /** Exclusive end of the requested blocks. */
  end: number
  readers: number
  random: () => number
  order?: Range['order']
  /** Minimum and maximum latency in milliseconds. */
  delayMs?: readonly [number, number]
}

type RequestInFlight = { at: number; assignment: Assignment; wallet: number; first: number; last: number }
const PAGE = 100

/**
 * Reads histories with a read plan in virtual time: idle readers take assignments and request them page by
 * page.
 */
export function simulate({
  histories,
  end,
  readers,
  random,
  order = 'asc',
  delayMs = [80, 160],
}: Simulation) {
  const ranges = histories.map(
    (_, at): Range => ({ address: String(at), range: { from: 0, to: end }, order }),
  )
  const plan = createReadPlan(ranges, dataApi)
  const received = histories.map((blocks) => new Uint8Array(blocks.length))
  const inFlight: RequestInFlight[] = []
  const result: Simulated = { timeMs: 0, requests: 0, most: 0, missing: 0, isComplete: false }
  const send = (request: Omit<RequestInFlight, 'at'>) => {
    result.requests += 1
    inFlight.push({ ...request, at: result.timeMs + delayMs[0] + random() * (delayMs[1] - delayMs[0]) })
    result.most = Math.max(result.most, inFlight.length)
  }
  const assignReaders = () => {
    while (inFlight.length < readers) {
      const assignment = plan.assign()
      if (assignment === undefined) return
      const blocks = histories[Number(assignment.address)] ?? []
      const { from, to } = assignment.range
      const [first, last] = [indexOfBlock(blocks, from), indexOfBlock(blocks, to)]
      send({ assignment, wallet: Number(assignment.address), first, last })
    }
  }
  for (assignReaders(); inFlight.length > 0; assignReaders()) {
    inFlight.sort((a, b) => a.at - b.at)
    const request = inFlight.shift() as RequestInFlight
    result.timeMs = request.at
    const next = receive(request, histories, received)
    if (next !== undefined) send(next)
  }
  result.missing = received.reduce((sum, flags) => sum + flags.reduce((none, flag) => none + 1 - flag, 0), 0)
  result.isComplete = plan.isComplete()
  return result
}

/** Passes the reader its page and returns its next request. */
function receive(
  { assignment, wallet, first, last }: RequestInFlight,
  histories: Simulation['histories'],
  received: readonly Uint8Array[],
) {
  const blocks = histories[wallet] ?? []
  const isAscending = assignment.order === 'asc'
  const count = Math.min(PAGE, last - first)
  const [from, to] = isAscending ? [first, first + count] : [last - count, last]
  received[wallet]?.fill(1, from, to)
  if (last - first <= PAGE) return assignment.finish()
  const [min = 0, max = 0] = [blocks[from], blocks[to - 1]]
  const rest = restAfter({ blocks, isAscending, min, max }, assignment.range)
  const wanted = assignment.recordPage(rest, { items: count, blocks: { min, max } })
  if (wanted === undefined) return assignment.finish()
  return { assignment, wallet, first: isAscending ? to : first, last: isAscending ? last : from }
}

type ReceivedPage = { blocks: readonly number[]; isAscending: boolean; min: number; max: number }

/**
 * The rest of a range after a page. The block in which the page ends does not count as read; each block is
 * its own second here.
 */
function restAfter({ blocks, isAscending, min, max }: ReceivedPage, { from, to }: Assignment['range']) {
  if (isAscending) return { from: Math.max(from, (blocks[indexOfBlock(blocks, max) - 1] ?? -1) + 1), to }
  return { from, to: Math.min(to, blocks[indexOfBlock(blocks, min + 1)] ?? to) }
}

/** Index of the first item in this block or a later one. */
function indexOfBlock(blocks: readonly number[], block: number): number {
  let [low, high] = [0, blocks.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if ((blocks[middle] ?? 0) < block) low = middle + 1
    else high = middle
  }
  return low
}

/** Returns a deterministic generator of numbers in [0, 1). */
export function seeded(seed: number): () => number {
  let state = seed
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    return state / 2 ** 32
  }
}
