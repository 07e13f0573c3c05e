import fc from 'fast-check'
import { expect, test } from 'vitest'
import { jsonText, previewJson, writeJson } from '../../../src/core/platform/json-text.ts'
import { formatValue } from '../../../src/read/findings.ts'
import { canonicalJson } from '../../../src/watch/event-signature.ts'
import { TOO_DEEP_JSON } from '../../helpers/deep-json.ts'

test('writeJson has the output of JSON.stringify', () => {
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 4 }), (value) => {
      const parsed: unknown = JSON.parse(JSON.stringify(value))
      expect(writeJson(parsed)).toBe(JSON.stringify(parsed))
    }),
    { numRuns: 500 },
  )
})

test.for(TOO_DEEP_JSON)('serializes $what to the original text', ({ text }) => {
  const value: unknown = JSON.parse(text)
  expect(jsonText(value) === text).toBe(true)
  expect(canonicalJson(value) === text).toBe(true)
})

test('serializes a list of 200,000 items', () => {
  const text = `[${'0,'.repeat(200_000)}0]`
  expect(writeJson(JSON.parse(text)) === text).toBe(true)
})

test.for(TOO_DEEP_JSON)('a message contains the beginning of $what', ({ text }) => {
  const value: unknown = JSON.parse(text)
  expect(previewJson(value)).toBe(`${text.slice(0, 80)}…`)
  expect(formatValue(value)).toBe(`${text.slice(0, 117)}...`)
})
