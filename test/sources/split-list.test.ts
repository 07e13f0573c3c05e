import fc from 'fast-check'
import { expect, test } from 'vitest'
import { splitPage } from '../../src/sources/split-list.ts'
import { TOO_DEEP_JSON } from '../helpers/deep-json.ts'

const textsOf = (body: Buffer) => splitPage(body)?.map(([from, to]) => body.toString('utf8', from, to))
const split = (text: string) => textsOf(Buffer.from(text))

test('finds the byte ranges of all entries of any page', () => {
  const page = fc.record({
    before: fc.dictionary(
      fc.string().filter((name) => name !== 'transactions'),
      fc.jsonValue(),
    ),
    transactions: fc.array(fc.jsonValue(), { maxLength: 5 }),
    indent: fc.constantFrom(undefined, 1, '\t'),
    isFirst: fc.boolean(),
  })
  fc.assert(
    fc.property(page, ({ before, transactions, indent, isFirst }) => {
      const fields = isFirst ? { transactions, ...before } : { ...before, transactions }
      const texts = split(JSON.stringify(fields, null, indent))
      expect(texts?.map((text) => JSON.parse(text))).toEqual(JSON.parse(JSON.stringify(transactions)))
    }),
    { numRuns: 500 },
  )
})

test.for([
  ['{"transactions":[]}', []],
  ['{ "transactions" : [ ] , "nextPageToken" : "x" }', []],
  ['{"transactions":[1, "a,]\\"}", {"transactions":[2]} ]}', ['1', ' "a,]\\"}"', ' {"transactions":[2]} ']],
  ['{"a":{"transactions":[1]},"transactions":[2]}', ['2']],
  ['{"kind":"transactions","transactions":[3]}', ['3']],
  ['{"transactions":[4],"é\\u005d\\\\":"]"}', ['4']],
] as const)('finds the entries of %s', ([text, entries]) => {
  expect(split(text)).toEqual(entries)
})

test.for([
  { text: '{"transactions":[1],"transactions":[2]}' },
  { text: '{"trans\\u0061ctions":[1]}' },
  { text: '{"transactions":null}' },
  { text: '[{"transactions":[1]}]' },
])('returns undefined for $text', ({ text }) => {
  expect(split(text)).toBeUndefined()
})

test.for(TOO_DEEP_JSON)('a value of $what is one entry', ({ text }) => {
  expect(split(`{"transactions":[${text},1]}`)).toEqual([text, '1'])
})
