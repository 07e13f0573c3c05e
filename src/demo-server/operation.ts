import type { Chains } from './chains.ts'
import type { DataServiceOptions } from './data-service.ts'
import type { JsonObject } from './json.ts'
import type { SelectPage } from './pages.ts'
import type { Quirk } from './quirks.ts'
import type { Reindexer } from './reindexer.ts'
import type { Registry } from './webhooks/registry.ts'

/** What the operations of one service share. */
export type Service = {
  readonly options: DataServiceOptions
  readonly quirks: ReadonlySet<Quirk>
  readonly chains: Chains
  readonly selectPage: SelectPage
  readonly reindexer: Reindexer
  readonly registry: Registry
}

/** A request for one operation. The operation itself validates the parameters. */
export type Call = {
  /** Decoded values of the names in braces; empty for names that the path does not have. */
  readonly path: Readonly<Record<PathName, string>>
  readonly query: URLSearchParams
  /** Index of the API key. Webhooks belong to it. */
  readonly owner: number
  /** Parses the body. Throws `HttpError` 400 if it is not a JSON object, 413 if it is too large. */
  body(): JsonObject
}

type PathName = 'chainId' | 'address' | 'blockId' | 'txHash' | 'tokenId' | 'id' | 'network' | 'blockchainId'

/** Returns the JSON body of the response; undefined for none. Throws `HttpError` if the request is rejected. */
export type Operation = (call: Call, service: Service) => unknown
