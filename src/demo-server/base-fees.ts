import type { Block } from './chain.ts'

const INITIAL_BASE_FEE = 1_000_000_000n
/** Half of the gas limit of 30 million. */
const GAS_TARGET = 15_000_000n

/**
 * Returns the base fee of each block with transactions. A chain that is known from its genesis block on has
 * the fees that EIP-1559 derives from the gas used, as the development node that recorded it. Otherwise they
 * are unknown, and the lowest price paid in the block stands for its base fee.
 */
export function baseFeesOf(blocks: readonly Block[]): ReadonlyMap<number, bigint> {
  const isWhole = blocks[0]?.number === 0 && blocks.every(({ number }, at) => number === at)
  const derived = isWhole ? derivedBaseFees(blocks) : undefined
  const fees = new Map<number, bigint>()
  for (const block of blocks) {
    const lowest = lowestPrice(block)
    const base = derived?.get(block.number)
    if (lowest !== undefined) fees.set(block.number, base !== undefined && base <= lowest ? base : lowest)
  }
  return fees
}

function derivedBaseFees(blocks: readonly Block[]): Map<number, bigint> {
  const fees = new Map<number, bigint>()
  let fee = INITIAL_BASE_FEE
  for (const block of blocks) {
    fees.set(block.number, fee)
    const used = block.transactions.reduce((sum, { gasUsed }) => sum + (integerOf(gasUsed) ?? 0n), 0n)
    const change = (fee * (used - GAS_TARGET)) / GAS_TARGET / 8n
    fee += used > GAS_TARGET && change < 1n ? 1n : change
  }
  return fees
}

function lowestPrice({ transactions }: Block): bigint | undefined {
  const prices = transactions.flatMap(({ gasPrice }) => integerOf(gasPrice) ?? [])
  return prices.sort((a, b) => (a < b ? -1 : 1))[0]
}

/** The integer in a field; undefined if there is none. */
export function integerOf(value: unknown): bigint | undefined {
  return typeof value === 'string' && /^\d{1,78}$/.test(value) ? BigInt(value) : undefined
}
