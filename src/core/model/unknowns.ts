/** Transactions of an export of which the service left out something that its ledger depends on. */
export type Unknowns = {
  /** Transactions whose status says neither success nor failure: they moved what a successful one does. */
  statusUnknown: number
  /** Transactions sent by a wallet of the export whose fee is unknown or zero: they have no fee row. */
  feeUnknown: number
}

export const NO_UNKNOWNS: Unknowns = { statusUnknown: 0, feeUnknown: 0 }

/** The counts of all parts of an export together; undefined where a part, which an older version wrote, has none. */
export function sumUnknownsIfPresent(parts: readonly Partial<Unknowns>[]): Unknowns | undefined {
  const isPresent = parts.every(
    ({ statusUnknown, feeUnknown }) => (statusUnknown ?? feeUnknown) !== undefined,
  )
  return isPresent ? sumUnknowns(parts) : undefined
}

/** The counts of parts of an export together; parts of older versions have none and count as 0. */
export function sumUnknowns(parts: readonly Partial<Unknowns>[]): Unknowns {
  const sum = { ...NO_UNKNOWNS }
  for (const { statusUnknown = 0, feeUnknown = 0 } of parts) {
    sum.statusUnknown += statusUnknown
    sum.feeUnknown += feeUnknown
  }
  return sum
}
