import type { RequestSpec } from '../../../http/request.ts'
import { isThrottled } from '../answer.ts'
import type { Dialect } from '../dialect.ts'

type ExplorerParameters = Readonly<Record<string, string | number | undefined>>

export type ExplorerRequest = {
  dialect: Dialect
  /** Base URL of the service. Only the path of the API may be missing. */
  baseUrl: string
  chain: string
  parameters: ExplorerParameters
  /** Names the request in error messages. */
  description: string
}

/** Builds a request. The chain is always sent: explorers of one chain ignore it. The client adds the API key. */
export function explorerRequest({
  dialect,
  baseUrl,
  chain,
  parameters,
  description,
}: ExplorerRequest): RequestSpec {
  const query = new URLSearchParams({ chainid: chain })
  for (const [name, value] of Object.entries(parameters))
    if (value !== undefined) query.set(name, String(value))
  const path = pathBelow(baseUrl, dialect)
  return { method: 'GET', pathAndQuery: `${path}?${query}`, description, isThrottled }
}

/** The part of the API's address that a base URL lacks: `…/api` has all of it, `…/v2` and `…/etherscan` of Routescan lack the last segment. */
function pathBelow(baseUrl: string, dialect: Dialect): string {
  const [last] = /[^/]*(?=\/?$)/.exec(new URL(baseUrl).pathname) ?? []
  if (last === 'api') return ''
  return last === 'etherscan' || last === 'v2' ? '/api' : dialect.path
}
