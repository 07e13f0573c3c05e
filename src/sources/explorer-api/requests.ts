import type { ExportError } from '../../core/model/errors.ts'
import { type RequestContext, type RequestSpec, request } from '../../http/request.ts'
import { parseBody } from '../check-page.ts'
import { isThrottled, readBlockNumber, readQuantity } from './answer.ts'
import type { Dialect } from './dialect.ts'

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

export type ChainRequest = { dialect: Dialect; chain: string }

/** Requests the number of the newest block. The listings may not contain it yet. */
export async function requestHead(
  requestContext: RequestContext,
  { dialect, chain }: ChainRequest,
): Promise<number> {
  const { baseUrl } = requestContext.client
  const spec = { dialect, baseUrl, chain, parameters: dialect.head, description: 'the newest block' }
  return request(requestContext, explorerRequest(spec), (body) => Number(readQuantity(body)))
}

/**
 * Requests the number of the last block before a time (milliseconds since 1970). An answer that is complete, but no block
 * number, is not requested again: the explorer does not offer it.
 */
export async function requestLastBlockBefore(
  requestContext: RequestContext,
  { dialect, chain, timeMs }: ChainRequest & { timeMs: number },
): Promise<number> {
  const { baseUrl } = requestContext.client
  const timestamp = Math.floor(timeMs / 1000)
  const parameters = { module: 'block', action: 'getblocknobytime', timestamp, closest: 'before' }
  const spec = { dialect, baseUrl, chain, parameters, description: 'the block at a time' }
  let isJson = false
  const isHandledByCaller = ({ code }: ExportError) => isJson && code === 'PAGE_MALFORMED'
  return request(requestContext, { ...explorerRequest(spec), isHandledByCaller }, (body) => {
    isJson = false
    parseBody(body)
    isJson = true
    return readBlockNumber(body)
  })
}
