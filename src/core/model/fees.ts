/** What the details of a transaction state about its fee. All numbers are digits. */
export type PaidPrice = {
  /** Price per unit of gas that was paid. */
  price: string
  /** Blob and L1 fees that the details name, in wei; undefined if they name none. */
  extra?: string | undefined
}

/** `PaidPrice` with the fee cap. */
export type FeeDetails = PaidPrice & { cap: string }

/**
 * What a probe has found out about the listed gas price of transactions with a fee cap: it is the price that was
 * paid (`effective`) or the cap (`cap`), or the service gives no details (`no details`).
 */
export const LISTED_PRICES = ['effective', 'cap', 'no details'] as const
export type ListedPrice = (typeof LISTED_PRICES)[number]

/** Key of a transaction's details. It contains the block, because a reorg can change the base fee. */
export const feeKey = (blockHash: string, transactionHash: string) => `${blockHash} ${transactionHash}`

/** Transactions with blobs (EIP-4844) pay for them separately. */
export const BLOB_TYPE = 3

/** gas used × price + extra, as exact digits; null if gas or price is unknown or the fee exceeds 256 bits. */
export function feeOf(used: number | string | null, price: string | null, extra = '0'): string | null {
  if (used === null || price === null || Number(used) < 0) return null
  const product = Number(used) * Number(price)
  if (extra === '0' && product <= Number.MAX_SAFE_INTEGER) return String(product)
  const fee = BigInt(used) * BigInt(price) + BigInt(extra)
  return fee >> 256n === 0n ? fee.toString() : null
}
