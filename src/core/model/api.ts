/** The kinds of API that histories are read from. `sources/index.ts` has the source of each. */
export const APIS = ['data-api', 'etherscan', 'blockscout'] as const
export type Api = (typeof APIS)[number]

/** The API of a service whose job, manifest or checkpoint names none. */
export const DEFAULT_API = 'data-api' satisfies Api

/**
 * A service indexes a block some time after it was produced. Blocks that are older than this, in milliseconds, when a run
 * begins count as indexed.
 */
export const MAX_INDEX_LAG_MS = 600_000

/**
 * The `finality` of a job that states none. Explorers index their listings at different times, so a run up to the head
 * leaves out blocks that may be missing from some of them.
 */
export const DEFAULT_FINALITY_MS: Readonly<Record<Api, number>> = {
  'data-api': 0,
  etherscan: MAX_INDEX_LAG_MS,
  blockscout: MAX_INDEX_LAG_MS,
}

/** The APIs of explorers. */
export type ExplorerApi = Exclude<Api, typeof DEFAULT_API>
