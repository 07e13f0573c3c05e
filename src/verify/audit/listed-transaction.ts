/**
 * An entry of the block listing (interface section 2.2), normalized like the exported columns. `undefined` means that
 * the listing lacks a valid value, which is then not compared; `null` means that the transaction has none.
 */
export type ListedTransaction = {
  hash: string
  index: string | undefined
  from: string | null | undefined
  to: string | null | undefined
  value: string | undefined
  blockHash: string | undefined
  /** Accepted block times in Unix milliseconds: the whole second, and the exact time if it lies within that second. */
  times: readonly number[] | undefined
}

/** Parses an entry of the block listing; undefined if it has no hash and so cannot be identified. */
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

/**
 * The wallet listing may lack milliseconds, so both times are accepted. Milliseconds outside the second are ignored.
 */
function timesOf({ blockTimestamp, blockTimestampMilliseconds }: Record<string, unknown>) {
  const second = digitsOf(blockTimestamp)
  if (second === undefined) return undefined
  const [start, exact] = [Number(second) * 1000, Number(digitsOf(blockTimestampMilliseconds))]
  return exact > start && exact < start + 1000 ? [start, exact] : [start]
}

function fieldsOf(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {}
}

/** Normalizes a party's address; an empty one means that there is none. */
function addressOf(party: unknown): string | null | undefined {
  const { address } = fieldsOf(party)
  if (typeof address !== 'string') return undefined
  return address === '' ? null : address.toLowerCase()
}

/** Normalizes an integer, given as text or number, to exact digits. */
function digitsOf(value: unknown): string | undefined {
  if (typeof value === 'number') return Number.isSafeInteger(value) ? String(value) : undefined
  return typeof value === 'string' && /^\d{1,90}$/.test(value) ? String(BigInt(value)) : undefined
}
