/** An NFT token of an export. */
export type Token = {
  /** Contract, lower case. */
  address: string
  /** Exact digits. */
  id: string
}

/** What came of an order to read a token's metadata again. `asked`: it may have been sent. `unsent`: it was not. */
export type ReindexOutcome = (typeof REINDEX_OUTCOMES)[number]
export const REINDEX_OUTCOMES = ['accepted', 'limited', 'unknown', 'refused', 'asked', 'unsent'] as const

/** That a token was asked for, as it is remembered from one run to the next. */
export type LoggedRequest = Token & {
  answer: ReindexOutcome
  /** When it was asked, Unix milliseconds. */
  atMs: number
  /** Not to be asked again before, Unix milliseconds. */
  untilMs: number
}
