import type { ServiceResponse } from '../data-service.ts'
import { jsonResponse } from '../http-error.ts'
import type { JsonObject } from '../json.ts'

/** A successful answer. */
export function resultAnswer(result: unknown): ServiceResponse {
  return jsonResponse(200, { status: '1', message: 'OK', result })
}

/** The answer of a listing without records. Explorers say "0" and name what they did not find. */
export function emptyAnswer(message: string): ServiceResponse {
  return jsonResponse(200, { status: '0', message, result: [] })
}

/** A list that lacks the internal transactions of blocks that the explorer has not processed yet. */
export function incompleteAnswer(result: readonly JsonObject[]): ServiceResponse {
  const message = 'Some internal transactions within this block range have not yet been processed'
  return jsonResponse(200, { status: '2', message, result })
}

/** The answer of a node's method, which has no status. */
export function rpcAnswer(result: number | bigint, id: number): ServiceResponse {
  return jsonResponse(200, { jsonrpc: '2.0', id, result: `0x${result.toString(16)}` })
}
