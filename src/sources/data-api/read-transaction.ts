import { type RequestContext, request } from '../../http/request.ts'
import { path } from './operations/path.ts'
import { malformedResponse, readObject } from './operations/read-response.ts'

type JsonObject = Readonly<Record<string, unknown>>

/** Requests the details of a transaction, and returns the fields that the listing of transactions would state. */
export async function readTransaction(
  requestContext: RequestContext,
  { chain, hash }: { chain: string; hash: string },
): Promise<JsonObject> {
  const spec = {
    method: 'GET' as const,
    pathAndQuery: path`/v1/chains/${chain}/transactions/${hash}`,
    description: `transaction ${hash}`,
  }
  return request(requestContext, spec, readNative)
}

function readNative(body: Buffer): JsonObject {
  const { nativeTransaction: native } = readObject<JsonObject>(body)
  if (typeof native !== 'object' || native === null) throw malformedResponse('has no nativeTransaction', body)
  const listed = Object.entries(native).filter(([name]) => !DETAILS_ONLY.has(name))
  return Object.fromEntries(listed)
}

/** Fields that only details have. */
const DETAILS_ONLY: ReadonlySet<string> = new Set([
  'input',
  'baseFeePerGas',
  'maxFeePerGas',
  'maxPriorityFeePerGas',
])
