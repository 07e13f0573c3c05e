export type JsonObject = { readonly [field: string]: unknown }

/** The value as an object, or an empty one where it is something else: fields of odd records are just absent. */
export function objectOf(value: unknown): JsonObject {
  return typeof value === 'object' && value !== null ? (value as JsonObject) : {}
}
