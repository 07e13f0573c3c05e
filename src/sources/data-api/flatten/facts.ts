import { writeJson } from '../../../core/platform/json-text.ts'

/** Fields that may change over time without a change on the chain. */
const MUTABLE_FIELDS = new Set([
  ...['name', 'symbol', 'decimals', 'logoUri', 'price', 'metadata', 'tokenUri', 'ownerAddress', 'methodName'],
])

/** The JSON of an item without its mutable fields. */
export const factsOf = (item: unknown): string =>
  writeJson(item, (fields) => Object.keys(fields).filter((name) => !MUTABLE_FIELDS.has(name)))
