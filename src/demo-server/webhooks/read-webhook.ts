import { HttpError } from '../http-error.ts'
import { type JsonObject, objectOf } from '../json.ts'
import { isAddress } from '../path-parameters.ts'
import type { WebhookFields } from './webhook.ts'

export type NewWebhook = WebhookFields & { readonly addresses: readonly string[] }

/** Reads the body that creates a webhook (interface 4.4). Throws `HttpError` 400 with all errors at once. */
export function readNewWebhook(body: JsonObject, chainIds: readonly string[]): NewWebhook {
  const metadata = objectOf(body.metadata)
  const isServed = chainIds.includes(String(body.chainId))
  throwIfAny([
    ...(body.eventType === 'address_activity' ? [] : ['eventType must be address_activity.']),
    ...(body.url === undefined ? ['url is missing: expected an http or https URL.'] : []),
    ...(isServed ? [] : [`chainId must be one of ${chainIds.join(', ')}, as text.`]),
    ...fieldErrors(body, ['url', 'name', 'description', 'includeInternalTxs', 'includeLogs']),
    ...traceErrors(body.includeInternalTxs, body.chainId),
    ...addressErrors(metadata.addresses, 'metadata.addresses'),
    ...signatureErrors(metadata.eventSignatures),
  ])
  return {
    url: String(body.url),
    chainId: String(body.chainId),
    name: String(body.name ?? ''),
    description: String(body.description ?? ''),
    status: 'active',
    includeInternalTxs: body.includeInternalTxs === true,
    includeLogs: body.includeLogs === true,
    eventSignatures: metadata.eventSignatures as string[] | undefined,
    addresses: metadata.addresses as string[],
  }
}

/** Reads the body that changes a webhook: only the fields that it contains. Throws `HttpError` 400 for invalid ones. */
export function readWebhookChange(body: JsonObject, chainId: string): Partial<WebhookFields> {
  throwIfAny([...fieldErrors(body, CHANGEABLE), ...traceErrors(body.includeInternalTxs, chainId)])
  return Object.fromEntries(CHANGEABLE.filter((field) => field in body).map((field) => [field, body[field]]))
}

/** Reads the body `{addresses}` (interface 4.5, 4.6). Throws `HttpError` 400 if it is invalid. */
export function readAddresses(body: JsonObject): readonly string[] {
  throwIfAny(addressErrors(body.addresses, 'addresses'))
  return body.addresses as string[]
}

const FIELD_RULES = {
  url: { expected: 'an http or https URL', isValid: isHttpUrl },
  name: { expected: 'a string', isValid: isText },
  description: { expected: 'a string', isValid: isText },
  status: { expected: 'active or inactive', isValid: (value) => value === 'active' || value === 'inactive' },
  includeInternalTxs: { expected: 'true or false', isValid: isBoolean },
  includeLogs: { expected: 'true or false', isValid: isBoolean },
} as const satisfies Record<string, { expected: string; isValid: (value: unknown) => boolean }>

const CHANGEABLE = Object.keys(FIELD_RULES) as (keyof typeof FIELD_RULES)[]

/** Chains with internal transactions (interface 2.9). */
const TRACED = ['43113', '43114']

function throwIfAny(errors: readonly string[]): void {
  if (errors.length > 0) throw new HttpError(400, errors)
}

/** Validates those of the fields that the body contains. */
function fieldErrors(body: JsonObject, fields: readonly (keyof typeof FIELD_RULES)[]): string[] {
  return fields
    .filter((field) => field in body && !FIELD_RULES[field].isValid(body[field]))
    .map((field) => `${field} must be ${FIELD_RULES[field].expected}.`)
}

function traceErrors(includeInternalTxs: unknown, chainId: unknown): string[] {
  if (includeInternalTxs !== true || TRACED.includes(String(chainId))) return []
  return [`includeInternalTxs is for the chains ${TRACED.join(' and ')} only.`]
}

function addressErrors(addresses: unknown, field: string): string[] {
  if (!Array.isArray(addresses)) return [`${field} must be an array of addresses.`]
  return addresses.flatMap((address, at) =>
    isAddress(address) ? [] : [`${field}[${at}] must be 0x and 40 hex digits.`],
  )
}

function signatureErrors(signatures: unknown): string[] {
  const hex = (value: unknown) => typeof value === 'string' && /^0x[0-9a-f]+$/i.test(value)
  if (signatures === undefined || (Array.isArray(signatures) && signatures.every(hex))) return []
  return ['metadata.eventSignatures must be an array of strings, each 0x and hex digits.']
}

function isHttpUrl(value: unknown): boolean {
  return isText(value) && URL.canParse(value) && /^https?:$/.test(new URL(value).protocol)
}

function isText(value: unknown): value is string {
  return typeof value === 'string'
}

function isBoolean(value: unknown): boolean {
  return typeof value === 'boolean'
}
