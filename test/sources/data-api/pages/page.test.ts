import { expect, test } from 'vitest'
import { readPage } from '../../../../src/sources/data-api/pages/page.ts'
import { bodyOf, itemAt } from './listing.ts'

const limits = { range: { from: 10, to: 20 }, cutoffMs: Number.POSITIVE_INFINITY, order: 'asc' } as const

test.for([
  { what: 'nothing', body: '' },
  { what: 'HTML', body: '<html><body>ok</body></html>' },
  { what: 'truncated JSON', body: '{"transactions":[{"native' },
  { what: 'null', body: 'null' },
  { what: 'a list', body: '[]' },
  { what: 'a string', body: '"transactions"' },
  { what: 'an object without transactions', body: '{}' },
  { what: 'null transactions', body: '{"transactions":null}' },
  { what: 'an object as transactions', body: '{"transactions":{}}' },
  { what: 'a number as token', body: '{"transactions":[],"nextPageToken":5}' },
  { what: 'a list as token', body: '{"transactions":[],"nextPageToken":["a"]}' },
  { what: 'false as token', body: '{"transactions":[],"nextPageToken":false}' },
  { what: 'invalid UTF-8', body: Buffer.from('{"transactions":[],"note":"é"}', 'latin1') },
  { what: 'UTF-16', body: Buffer.from('{"transactions":[]}', 'utf16le') },
  { what: 'an item before the range', body: bodyOf([itemAt(9)]) },
  { what: 'an item at the end of the range', body: bodyOf([itemAt(20)]) },
  { what: 'descending blocks and a next page', body: bodyOf([itemAt(12), itemAt(11)], 'more') },
])('rejects a body with $what', ({ body }) => {
  expect(() => readPage(Buffer.from(body), limits)).toThrow(
    expect.objectContaining({ code: 'PAGE_MALFORMED' }),
  )
})

test.for([
  { what: 'absent', token: undefined, next: undefined },
  { what: 'null', token: null, next: undefined },
  { what: 'empty', token: '', next: undefined },
  { what: 'a string', token: 'abc', next: 'abc' },
])('accepts a token that is $what', ({ token, next }) => {
  expect(readPage(bodyOf([itemAt(10)], token), limits).next).toBe(next)
})

test('counts invalid items and reads the keys of the valid ones', () => {
  const { items, bad, blocks, keys } = readPage(bodyOf([null, itemAt(11), 5, {}, itemAt(14), []]), limits)
  expect({ items, bad, blocks }).toEqual({ items: 6, bad: 4, blocks: { min: 11, max: 14 } })
  expect(keys.map(({ block, second }) => [block, second])).toEqual([
    [11, 11],
    [14, 14],
  ])
})

test('has no blocks if no item has a key', () => {
  const { items, blocks, keys, head } = readPage(bodyOf([null, {}]), limits)
  expect({ items, blocks, keys, head }).toEqual({ items: 2, blocks: undefined, keys: [], head: undefined })
})

test.for([
  { cutoffMs: 12_998, head: 11, what: 'within its second' },
  { cutoffMs: 12_999, head: 12, what: 'at the end of its second' },
])('a block with a time in whole seconds, cutoff $what: the head is $head', ({ cutoffMs, head }) => {
  const page = readPage(bodyOf([itemAt(11), itemAt(12), itemAt(13)]), { ...limits, cutoffMs })
  expect(page.head).toBe(head)
})

test('a block with milliseconds is the head from exactly its millisecond on', () => {
  const { nativeTransaction } = itemAt(12)
  const exact = { nativeTransaction: { ...nativeTransaction, blockTimestampMilliseconds: 12_300 } }
  const headAt = (cutoffMs: number) => readPage(bodyOf([itemAt(11), exact]), { ...limits, cutoffMs }).head
  expect([headAt(12_299), headAt(12_300)]).toEqual([11, 12])
})
