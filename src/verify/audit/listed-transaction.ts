/**
 * What the block listing says of a transaction (interface section 2.2), in the form of our columns. undefined: it does
 * not say it, so it is not compared; null: there is none.
 */
export type ListedTransaction = {
  hash: string
  index: string | undefined
  from: string | null | undefined
  to: string | null | undefined
  value: string | undefined
  blockHash: string | undefined
  /** Times that an exported row may have: the whole second, and the millisecond where it lies within that second. */
  times: readonly number[] | undefined
}

/** Reads an entry of the block listing; undefined where it has no hash and so cannot be told from others. */
export function parseListedTransaction(entry: unknown): ListedTransaction | undefined {
  const { txHash, blockIndex, from, to, value, blockHash, ...times } = fieldsOf(entry)
  if (typeof txHash !== 'string' || txHash === '') return undefined
  return {
    hash: txHash.toLowerCase(),
    index: digitsOf(blockIndex),
    from: addressOf(from),
    to: addressOf(to),
    value: digitsOf(value),
    blockHash: typeof blockHash === 'string' && blockHash !== '' ? blockHash.toLowerCase() : undefined,
    times: timesOf(times),
  }
}

/** Another listing may give the second alone, so both are right; milliseconds of another second are not used. */
function timesOf({ blockTimestamp, blockTimestampMilliseconds }: Record<string, unknown>) {
  const second = digitsOf(blockTimestamp)
  if (second === undefined) return undefined
  const [start, exact] = [Number(second) * 1000, Number(digitsOf(blockTimestampMilliseconds))]
  return exact > start && exact < start + 1000 ? [start, exact] : [start]
}

function fieldsOf(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {}
}

/** An empty address means none. */
function addressOf(party: unknown): string | null | undefined {
  const { address } = fieldsOf(party)
  if (typeof address !== 'string') return undefined
  return address === '' ? null : address.toLowerCase()
}

/** A whole number as exact digits, whether it came as text or number. */
function digitsOf(value: unknown): string | undefined {
  if (typeof value === 'number') return Number.isSafeInteger(value) ? String(value) : undefined
  return typeof value === 'string' && /^\d{1,90}$/.test(value) ? String(BigInt(value)) : undefined
}
