import fc from 'fast-check'
import { expect, test } from 'vitest'
import {
  isAscii,
  parseBytes,
  toBytes,
  toLowerCase,
  toText,
  toValue,
  toWellFormed,
} from '../../../src/core/platform/byte-text.ts'

const text = fc.string({
  unit: fc.oneof(fc.constantFrom(...'aÉé漢😀"\\\u0000\u0080\u00ff\u2028'), fc.string()),
})
const value = fc.jsonValue({ noUnicodeString: false })
const anyValue = fc.oneof(value, text, fc.array(text), fc.dictionary(text, value))

/** JSON with all, some or none of the non-ASCII characters escaped. */
const jsonOf = fc
  .tuple(anyValue, fc.infiniteStream(fc.boolean()))
  .map(([value, random]) =>
    JSON.stringify(value).replace(/[\u0080-\uffff]/g, (letter) =>
      random.next().value ? `\\u${letter.charCodeAt(0).toString(16).padStart(4, '0')}` : letter,
    ),
  )
  .map((json) => json.toWellFormed())

test('any JSON converts to the value that JSON.parse returns', () => {
  fc.assert(
    fc.property(jsonOf, (json) => {
      expect(toValue(parseBytes(Buffer.from(json)))).toEqual(JSON.parse(json))
    }),
    { numRuns: 1_000 },
  )
})

test('strings of parsed JSON are the bytes of their text', () => {
  fc.assert(
    fc.property(fc.array(text), (texts) => {
      const parsed = parseBytes(Buffer.from(JSON.stringify(texts)))
      expect(parsed).toEqual(texts.map(toBytes))
    }),
  )
})

test('text survives the conversion to bytes and back', () => {
  fc.assert(
    fc.property(text, (given) => {
      const bytes = toBytes(given)
      expect(Buffer.from(bytes, 'latin1').equals(Buffer.from(given))).toBe(true)
      expect(toText(bytes)).toBe(given)
      expect(isAscii(given)).toBe(bytes === given)
    }),
  )
})

test('lower case follows Unicode rules in all scripts', () => {
  fc.assert(
    fc.property(text, (given) => {
      expect(toText(toLowerCase(toBytes(given)))).toBe(given.toLowerCase())
    }),
  )
})

test.for([
  { json: '"a\\ud800b"', text: 'a\ufffdb' },
  { json: '"é\\udc00"', text: 'é\ufffd' },
  { json: '"\\ud83d\\ude00"', text: '😀' },
  { json: '"\\u00e9"', text: 'é' },
  { json: '"é\\\\u00e9"', text: 'é\\u00e9' },
])('converts $json to well-formed bytes: $text', ({ json, text }) => {
  const bytes = parseBytes(Buffer.from(json)) as string
  expect(toText(bytes)).toBe(text)
  expect(toText(toWellFormed(bytes))).toBe(text)
  expect(toText(toLowerCase(bytes))).toBe(text)
})

test('throws a SyntaxError for invalid JSON', () => {
  for (const body of ['', '{', '{"a":"\\u12"}', '"\\ud8"', 'nul'])
    expect(() => parseBytes(Buffer.from(body))).toThrow(SyntaxError)
})
