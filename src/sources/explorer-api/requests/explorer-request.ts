import type { RequestSpec } from '../../../http/request.ts'
import type { Dialect } from '../dialect.ts'
import { isThrottled } from './answer.ts'

type ExplorerParameters = Readonly<Record<string, string | number | undefined>>

export type ExplorerRequest = {
  dialect: Dialect
  /** Base URL of the service. If it ends in `/api`, it is the address of the API itself. */
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
  const path = /\/api\/?$/.test(new URL(baseUrl).pathname) ? '' : dialect.path
  return { method: 'GET', pathAndQuery: `${path}?${query}`, description, isThrottled }
}
