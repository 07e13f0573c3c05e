/** The kinds of API that the embedded service can speak. */
export const SERVED_APIS = ['data-api', 'etherscan', 'blockscout'] as const
export type ServedApi = (typeof SERVED_APIS)[number]
/** The explorer APIs among them. */
export type ExplorerApi = Exclude<ServedApi, 'data-api'>
