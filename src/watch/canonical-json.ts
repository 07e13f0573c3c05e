import { writeJson } from '../core/platform/json-text.ts'

/**
 * Writes a parsed JSON value as canonical JSON (RFC 8785): no spaces, the names of each object in the order of UTF-16
 * code units, numbers and text as ECMAScript writes them.
 */
export function canonicalJson(value: unknown): string {
  return writeJson(value, (fields) => Object.keys(fields).sort())
}
