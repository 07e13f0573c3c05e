/** The kinds of API that histories are read from. `sources/index.ts` has the source of each. */
export const APIS = ['data-api', 'etherscan', 'blockscout'] as const
export type Api = (typeof APIS)[number]

/** The API of a service whose job, manifest or checkpoint names none. */
export const DEFAULT_API = 'data-api' satisfies Api

/** The APIs of explorers. */
export type ExplorerApi = Exclude<Api, typeof DEFAULT_API>
