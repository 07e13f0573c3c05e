import { expect, test } from 'vitest'
import { readPage } from '../../../src/client/pages/page.ts'
import { bodyOf, itemAt } from './listing.ts'

const limits = { range: { from: 10, to: 20 }, cutMs: Number.POSITIVE_INFINITY, order: 'asc' } as const

test.for([
  { what: 'nothing', body: '' },
  { what: 'HTML', body: '<html><body>ok</body></html>' },
  { what: 'half of a JSON text', body: '{"transactions":[{"native' },
  { what: 'null', body: 'null' },
  { what: 'a list', body: '[]' },
  { what: 'a text', body: '"transactions"' },
  { what: 'an object without transactions', body: '{}' },
  { what: 'null transactions', body: '{"transactions":null}' },
  { what: 'transactions that are an object', body: '{"transactions":{}}' },
  { what: 'a token that is a number', body: '{"transactions":[],"nextPageToken":5}' },
  { what: 'a token that is a list', body: '{"transactions":[],"nextPageToken":["a"]}' },
  { what: 'a token that is false', body: '{"transactions":[],"nextPageToken":false}' },
  { what: 'bytes that are no UTF-8', body: Buffer.from('{"transactions":[],"note":"é"}', 'latin1') },
  { what: 'UTF-16', body: Buffer.from('{"transactions":[]}', 'utf16le') },
  { what: 'an item before the range', body: bodyOf([itemAt(9)]) },
  { what: 'an item at the end of the range', body: bodyOf([itemAt(20)]) },
  { what: 'falling blocks with more to come', body: bodyOf([itemAt(12), itemAt(11)], 'more') },
])('refuses a body that holds $what', ({ body }) => {
  expect(() => readPage(Buffer.from(body), limits)).toThrow(
    expect.objectContaining({ code: 'PAGE_MALFORMED' }),
  )
})

test.for([
  { what: 'absent', token: undefined, next: undefined },
  { what: 'null', token: null, next: undefined },
  { what: 'empty', token: '', next: undefined },
  { what: 'a text', token: 'abc', next: 'abc' },
])('takes a token that is $what', ({ token, next }) => {
  expect(readPage(bodyOf([itemAt(10)], token), limits).next).toBe(next)
})

test('counts bad items and reads the place of the good ones', () => {
  const { items, blocks, edges } = readPage(bodyOf([null, itemAt(11), 5, {}, itemAt(14), []]), limits)
  expect({ items, blocks, edges }).toEqual({
    items: 6,
    blocks: { min: 11, max: 14 },
    edges: { asc: 14, desc: 11 },
  })
})

test('has no blocks where no item has a place', () => {
  const { items, blocks, edges, head } = readPage(bodyOf([null, {}]), limits)
  expect({ items, blocks, edges, head }).toEqual({
    items: 2,
    blocks: undefined,
    edges: undefined,
    head: undefined,
  })
})

test('restarts at the outermost block of the last second', () => {
  const mixed = [
    itemAt(13, { second: 1 }),
    itemAt(12, { second: 1 }),
    itemAt(15, { second: 2 }),
    itemAt(14, { second: 2 }),
  ]
  expect(readPage(bodyOf(mixed, 'more'), limits).edges).toEqual({ asc: 14, desc: 13 })
  const falling = { ...limits, order: 'desc' as const }
  expect(readPage(bodyOf(mixed.toReversed(), 'more'), falling).edges).toEqual({ asc: 14, desc: 13 })
})

test('does not count items younger than the cut for the head', () => {
  const page = readPage(bodyOf([itemAt(11), itemAt(12), itemAt(13)]), { ...limits, cutMs: 12_000 })
  expect(page.head).toBe(12)
})
