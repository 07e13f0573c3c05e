/** An NFT token of an export. */
export type Token = {
  /** Contract address, in lower case. */
  address: string
  /** Token id, as exact decimal digits. */
  id: string
}

/**
 * The outcome of a reindex request. `pending`: it may have taken effect, but no response says so. `unsent`: it certainly had no
 * effect.
 */
export type ReindexOutcome = (typeof REINDEX_OUTCOMES)[number]
export const REINDEX_OUTCOMES = ['accepted', 'limited', 'unknown', 'refused', 'pending', 'unsent'] as const

/** An entry of the request log, which persists between runs. */
export type LoggedRequest = Token & {
  answer: ReindexOutcome
  /** Time of the request, in Unix milliseconds. */
  atMs: number
  /** Earliest time of the next request, in Unix milliseconds. */
  untilMs: number
}
