import { writeJson } from '../core/platform/json-text.ts'

/**
 * Serializes a parsed JSON value as canonical JSON (RFC 8785): no whitespace, object keys sorted by UTF-16 code units,
 * numbers and strings as ECMAScript serializes them.
 */
export function canonicalJson(value: unknown): string {
  return writeJson(value, (fields) => Object.keys(fields).sort())
}
