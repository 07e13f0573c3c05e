import type { Api } from '../core/model/api.ts'
import { dataApi } from './data-api/data-api.ts'
import { blockscout, etherscan } from './explorer-api/explorer-api.ts'
import type { Source } from './source.ts'

/** The source of each API. The main thread, worker threads and the workers of a queue look up theirs here. */
const SOURCES: Readonly<Record<Api, Source>> = { 'data-api': dataApi, etherscan, blockscout }

/** Returns the source that reads histories from an API. */
export function sourceOf(api: Api): Source {
  return SOURCES[api]
}
