export type JsonObject = { readonly [field: string]: unknown }

/** The value as an object, or an empty one where it is something else: fields of odd records are just absent. */
export function objectOf(value: unknown): JsonObject {
  return typeof value === 'object' && value !== null ? (value as JsonObject) : {}
}

/** The objects of a list of an item; none where there is no list. */
export function listOf(item: JsonObject, name: string): JsonObject[] {
  const entries = item[name]
  return Array.isArray(entries) ? entries.map(objectOf) : []
}
