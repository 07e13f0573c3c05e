/**
 * Whether records may be missing from an answer. Plans and instances lower the requested number without a notice, such
 * as to 1,000, and at any time. So a list of a round length may be full, whatever was answered before; one more request,
 * from its last block on, decides.
 *
 * @param offset the requested number of records
 */
export const mayBeFull = (length: number, offset: number): boolean =>
  length >= offset || isRoundLength(length)

/** Whether a limit may have this value. */
export const isRoundLength = (length: number): boolean =>
  length >= MIN_ROUND_LENGTH && length % ROUND_LENGTH === 0

const MIN_ROUND_LENGTH = 100
const ROUND_LENGTH = 50
