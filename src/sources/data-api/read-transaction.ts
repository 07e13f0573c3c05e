import { paysGasOnly } from '../../core/model/chains.ts'
import { ExportError } from '../../core/model/errors.ts'
import { BLOB_TYPE, type FeeDetails } from '../../core/model/fees.ts'
import { parseBytes } from '../../core/platform/byte-text.ts'
import { parseLimited } from '../../core/platform/check-json-size.ts'
import { type RequestContext, request } from '../../http/request.ts'
import { type Fields, int32At, lowerAt, optionalObjectAt, u256At } from '../fields.ts'
import type { FeeRequest } from '../source.ts'
import { malformedResponse, path, readObject } from './operations/call.ts'

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

/** Requests the details of a transaction; undefined if the service does not have them or they name no price. */
export async function readFee(
  requestContext: RequestContext,
  { chain, hash, blockHash }: FeeRequest,
): Promise<FeeDetails | undefined> {
  const spec = {
    method: 'GET' as const,
    pathAndQuery: path`/v1/chains/${chain}/transactions/${hash}`,
    description: `transaction ${hash}`,
  }
  try {
    const native = await request(requestContext, spec, readNativeFields)
    return lowerAt(native, 'blockHash') === blockHash ? feeDetailsOf(native, chain) : undefined
  } catch (error) {
    if (error instanceof ExportError && HAS_NO_DETAILS.has(error.status ?? 0)) return undefined
    throw error
  }
}

/** Statuses of a service, or of a gateway before it, that does not offer details. */
const HAS_NO_DETAILS: ReadonlySet<number> = new Set([400, 403, 404, 405, 410, 501])

function readNativeFields(body: Buffer): Fields {
  const parsed = parseLimited(body, parseJson)
  if (typeof parsed !== 'object' || parsed === null) throw malformedResponse('is not a JSON object', body)
  return optionalObjectAt({ ...parsed }, 'nativeTransaction')
}

function parseJson(body: Buffer): unknown {
  try {
    return parseBytes(body)
  } catch (error) {
    if (error instanceof SyntaxError) throw malformedResponse('is not JSON', body)
    throw error
  }
}

/** The price that was paid is the lower one of the cap and of base fee + tip (EIP-1559). */
function feeDetailsOf(native: Fields, chain: string): FeeDetails | undefined {
  const [base, cap] = [u256At(native, 'baseFeePerGas'), u256At(native, 'maxFeePerGas')]
  const tip = u256At(native, 'maxPriorityFeePerGas')
  if (base === null || cap === null || tip === null) return undefined
  const offered = BigInt(base) + BigInt(tip)
  const price = offered < BigInt(cap) ? offered.toString() : cap
  const extra = extraFeeOf(native, chain)
  return extra === undefined ? { price, cap } : { price, cap, extra }
}

/**
 * The fees for blobs and for publishing on L1 that the details name, in wei; undefined if they name none, or lack one that
 * the transaction pays. Blob fields prove nothing about L1: some services report 0 for every transaction.
 */
function extraFeeOf(native: Fields, chain: string): string | undefined {
  const [used, price] = [u256At(native, 'blobGasUsed'), u256At(native, 'blobGasPrice')]
  const blobFee = used === null || price === null ? undefined : BigInt(used) * BigInt(price)
  const l1Fee = u256At(native, 'l1Fee')
  const lacksL1Fee = l1Fee === null && paysGasOnly(chain) === false
  const lacksBlobFee = blobFee === undefined && int32At(native, 'txType') === BLOB_TYPE
  if (lacksL1Fee || lacksBlobFee || (l1Fee === null && blobFee === undefined)) return undefined
  return String((blobFee ?? 0n) + BigInt(l1Fee ?? 0))
}
