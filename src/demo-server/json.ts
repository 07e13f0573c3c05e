export type JsonObject = { readonly [field: string]: unknown }

/** Returns the value if it is an object, else an empty object, so that the fields of malformed records are absent. */
export function objectOf(value: unknown): JsonObject {
  return typeof value === 'object' && value !== null ? (value as JsonObject) : {}
}

/** Returns the objects in a list of an item; empty if there is no such list. */
export function listOf(item: JsonObject, name: string): JsonObject[] {
  const entries = item[name]
  return Array.isArray(entries) ? entries.map(objectOf) : []
}

/** The integer in a field; undefined if there is none. */
export function integerOf(value: unknown): bigint | undefined {
  return typeof value === 'string' && /^\d{1,78}$/.test(value) ? BigInt(value) : undefined
}

/** The address of a party or a token; empty text for none. */
export function addressOf(party: unknown): string {
  return String(objectOf(party).address ?? '')
}
