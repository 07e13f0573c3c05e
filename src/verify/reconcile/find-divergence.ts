/** The sum of a wallet's ledger rows of the native coin after a block that has such rows. */
export type LedgerStep = { block: number; sum: bigint }

export type DivergenceSearch = {
  /** Ascending by block. */
  steps: readonly LedgerStep[]
  /** A block after which ledger and service agree: the one before the first exported block. */
  equalAt: number
  /** A later block after which they differ. */
  differentAt: number
  /** By how much the service's balance exceeds what the ledger sums to after a block: `service - sum`. */
  excessAt: (block: number, sum: bigint) => Promise<bigint>
  maxRequests: number
}

export type Divergence = {
  /** Ledger and service agree before `fromBlock` and differ after `toBlock`; equal if the search was exhaustive. */
  fromBlock: number
  toBlock: number
  /** Whether the wallet has rows in `toBlock`, and none before it from `fromBlock` on. */
  isInOwnBlock: boolean
  /** The difference after `toBlock`. */
  excess: bigint
}

/**
 * Finds the first block after which ledger and service differ, by binary search: first among the blocks of the ledger, which
 * are few, then among the blocks without rows between two of them. If differences appear and disappear, it finds one of the
 * blocks in which they appear.
 *
 * @param excess the difference after `differentAt`
 */
export async function findDivergence(search: DivergenceSearch, excess: bigint): Promise<Divergence> {
  const probe = createProbe(search, excess)
  const { steps, equalAt, differentAt } = search
  const stepBlock = (at: number) => steps[at]?.block ?? differentAt
  let [low, high] = [0, steps.length]
  while (low < high && probe.remaining() > 0) {
    const middle = (low + high) >>> 1
    if (await probe.isEqual(stepBlock(middle))) low = middle + 1
    else high = middle
  }
  let from = low === 0 ? equalAt : stepBlock(low - 1)
  let to = stepBlock(high)
  if (low < high) return result(probe, { from, to, isOwn: false })
  const isOwnBlock = low < steps.length
  if (isOwnBlock && to - from === 1) return result(probe, { from, to, isOwn: true })
  if (isOwnBlock && probe.remaining() === 0) return result(probe, { from, to, isOwn: false })
  if (isOwnBlock) {
    if (await probe.isEqual(to - 1)) return result(probe, { from: to - 1, to, isOwn: true })
    to -= 1
  }
  while (to - from > 1 && probe.remaining() > 0) {
    const middle = Math.floor((from + to) / 2)
    if (await probe.isEqual(middle)) from = middle
    else to = middle
  }
  return result(probe, { from, to, isOwn: false })
}

type Probe = ReturnType<typeof createProbe>

function result(probe: Probe, { from, to, isOwn }: { from: number; to: number; isOwn: boolean }): Divergence {
  return { fromBlock: from + 1, toBlock: to, isInOwnBlock: isOwn, excess: probe.excessOf(to) }
}

function createProbe({ steps, differentAt, excessAt, maxRequests }: DivergenceSearch, finalExcess: bigint) {
  const known = new Map([[differentAt, finalExcess]])
  let requests = 0
  return {
    remaining: () => maxRequests - requests,
    excessOf: (block: number) => known.get(block) ?? 0n,
    isEqual: async (block: number) => {
      let excess = known.get(block)
      if (excess === undefined) {
        requests += 1
        excess = await excessAt(block, sumAt(steps, block))
        known.set(block, excess)
      }
      return excess === 0n
    },
  }
}

/** The sum after a block: that of the last step up to it. */
export function sumAt(steps: readonly LedgerStep[], block: number): bigint {
  let [low, high] = [0, steps.length]
  while (low < high) {
    const middle = (low + high) >>> 1
    if ((steps[middle] as LedgerStep).block <= block) low = middle + 1
    else high = middle
  }
  return steps[low - 1]?.sum ?? 0n
}
