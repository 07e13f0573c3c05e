/** The kinds of API that histories are read from. `sources/index.ts` has the source of each. */
export const APIS = ['data-api', 'etherscan', 'blockscout'] as const
export type Api = (typeof APIS)[number]

/** The API of a service whose job, manifest or checkpoint names none. */
export const DEFAULT_API = 'data-api' satisfies Api

/**
 * How long blocks may be missing from some of an API's listings after others contain them, in milliseconds. A run up to
 * the head leaves out younger transactions, unless the job states a `finality`.
 */
export const DEFAULT_FINALITY_MS: Readonly<Record<Api, number>> = {
  'data-api': 0,
  etherscan: 600_000,
  blockscout: 600_000,
}

/** The APIs of explorers. */
export type ExplorerApi = Exclude<Api, typeof DEFAULT_API>
