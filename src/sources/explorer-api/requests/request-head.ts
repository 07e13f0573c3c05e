import type { RequestContext } from '../../../http/request.ts'
import { request } from '../../../http/request.ts'
import type { Dialect } from '../dialect.ts'
import { readQuantity } from './answer.ts'
import { explorerRequest } from './explorer-request.ts'

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
