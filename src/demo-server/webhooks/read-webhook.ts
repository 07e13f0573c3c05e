import { HttpError } from '../http-error.ts'
import { type JsonObject, objectOf } from '../json.ts'
import { isAddress } from '../parameters.ts'
import type { WebhookFields } from './registry.ts'

export type NewWebhook = WebhookFields & { readonly addresses: readonly string[] }

/** Reads the body that creates a webhook (interface 4.4). Throws `HttpError` 400 with all errors at once. */
export function readNewWebhook(body: JsonObject, chainIds: readonly string[]): NewWebhook {
  const { addresses, eventSignatures } = objectOf(body.metadata)
  const chainId = String(body.chainId)
  throwIfAny([
    body.eventType === 'address_activity' || 'eventType must be address_activity.',
    body.url !== undefined || 'url is missing: expected an http or https URL.',
    chainIds.includes(chainId) || `chainId must be one of ${chainIds.join(', ')}, as text.`,
    ...checkFields(body, ['url', 'name', 'description', 'includeInternalTxs', 'includeLogs']),
    checkTraces(body, chainId),
    ...checkAddresses(addresses, 'metadata.addresses'),
    eventSignatures === undefined ||
      (Array.isArray(eventSignatures) && eventSignatures.every(isHex)) ||
      'metadata.eventSignatures must be an array of strings, each 0x and hex digits.',
  ])
  return {
    url: String(body.url),
    chainId,
    name: String(body.name ?? ''),
    description: String(body.description ?? ''),
    status: 'active',
    includeInternalTxs: body.includeInternalTxs === true,
    includeLogs: body.includeLogs === true,
    eventSignatures: eventSignatures as string[] | undefined,
    addresses: addresses as string[],
  }
}

/** Reads the body that changes a webhook: only the fields that it contains. Throws `HttpError` 400 for invalid ones. */
export function readWebhookChange(body: JsonObject, chainId: string): Partial<WebhookFields> {
  throwIfAny([...checkFields(body, CHANGEABLE), checkTraces(body, chainId)])
  return Object.fromEntries(CHANGEABLE.filter((field) => field in body).map((field) => [field, body[field]]))
}

/** Reads the body `{addresses}` (interface 4.5, 4.6). Throws `HttpError` 400 if it is invalid. */
export function readAddresses({ addresses }: JsonObject): readonly string[] {
  throwIfAny(checkAddresses(addresses, 'addresses'))
  return addresses as string[]
}

const isText = (value: unknown): value is string => typeof value === 'string'
const isBoolean = (value: unknown) => typeof value === 'boolean'
const isStatus = (value: unknown) => value === 'active' || value === 'inactive'
const isHex = (value: unknown) => isText(value) && /^0x[0-9a-f]+$/i.test(value)
const isHttpUrl = (value: unknown) =>
  isText(value) && URL.canParse(value) && /^https?:$/.test(new URL(value).protocol)

const FIELD_RULES = {
  url: { expected: 'an http or https URL', isValid: isHttpUrl },
  name: { expected: 'a string', isValid: isText },
  description: { expected: 'a string', isValid: isText },
  status: { expected: 'active or inactive', isValid: isStatus },
  includeInternalTxs: { expected: 'true or false', isValid: isBoolean },
  includeLogs: { expected: 'true or false', isValid: isBoolean },
}

const CHANGEABLE = Object.keys(FIELD_RULES) as (keyof typeof FIELD_RULES)[]

/** Chains with internal transactions (interface 2.9). */
const TRACED = ['43113', '43114']

/** The error of a check, or true if it passes. */
type Check = string | true

function throwIfAny(checks: readonly Check[]): void {
  const errors = checks.filter((check) => check !== true)
  if (errors.length > 0) throw new HttpError(400, errors)
}

/** Validates those of the fields that the body contains. */
function checkFields(body: JsonObject, fields: readonly (keyof typeof FIELD_RULES)[]): Check[] {
  return fields.map((field) => {
    const { expected, isValid } = FIELD_RULES[field]
    return !(field in body) || isValid(body[field]) || `${field} must be ${expected}.`
  })
}

function checkTraces({ includeInternalTxs }: JsonObject, chainId: string): Check {
  if (includeInternalTxs !== true || TRACED.includes(chainId)) return true
  return `includeInternalTxs is for the chains ${TRACED.join(' and ')} only.`
}

function checkAddresses(addresses: unknown, field: string): Check[] {
  if (!Array.isArray(addresses)) return [`${field} must be an array of addresses.`]
  return addresses.map((address, at) => isAddress(address) || `${field}[${at}] must be 0x and 40 hex digits.`)
}
