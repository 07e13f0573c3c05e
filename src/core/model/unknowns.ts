/** Number of transactions for which the service did not return data that the ledger depends on. */
export type Unknowns = {
  /** Transactions whose status reports neither success nor failure; the ledger treats them as successful. */
  statusUnknown: number
  /** Transactions sent by a wallet of the export whose fee is unknown or zero; they have no fee row. */
  feeUnknown: number
  /** Transactions sent by a wallet of the export whose fee is computed from what may be the fee cap. */
  feesUpperBound: number
}

export const NO_UNKNOWNS: Unknowns = { statusUnknown: 0, feeUnknown: 0, feesUpperBound: 0 }

export const UNKNOWN_NAMES = ['statusUnknown', 'feeUnknown', 'feesUpperBound'] as const

/**
 * Adds the counts of all parts of an export; undefined if a part was written by an older version, which has
 * no counts.
 */
export function sumUnknownsIfPresent(parts: readonly Partial<Unknowns>[]): Unknowns | undefined {
  const isPresent = parts.every(
    ({ statusUnknown, feeUnknown }) => (statusUnknown ?? feeUnknown) !== undefined,
  )
  return isPresent ? sumUnknowns(parts) : undefined
}

/** Adds the counts of parts of an export; missing counts (parts of older versions) are 0. */
export function sumUnknowns(parts: readonly Partial<Unknowns>[]): Unknowns {
  const sum = { ...NO_UNKNOWNS }
  for (const { statusUnknown = 0, feeUnknown = 0, feesUpperBound = 0 } of parts) {
    sum.statusUnknown += statusUnknown
    sum.feeUnknown += feeUnknown
    sum.feesUpperBound += feesUpperBound
  }
  return sum
}
