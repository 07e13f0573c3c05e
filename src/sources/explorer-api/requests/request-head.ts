import type { ExportError } from '../../../core/model/errors.ts'
import type { RequestContext } from '../../../http/request.ts'
import { request } from '../../../http/request.ts'
import { parseBody } from '../../parse-body.ts'
import { readBlockNumber, readQuantity } from '../answer.ts'
import type { Dialect } from '../dialect.ts'
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
