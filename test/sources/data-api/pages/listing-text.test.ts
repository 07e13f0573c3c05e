import { expect, test } from 'vitest'
import { readPage } from '../../../../src/sources/data-api/pages/page.ts'
import { service } from '../../../helpers/faulty-run.ts'
import { demoWallets } from '../../../helpers/node-data.ts'
import { parsedListing } from './parsed-listing.ts'

const HASH = `0x${'ab'.repeat(32)}`

/** An item as services send it. The parameters are JSON text. */
function itemOf({
  block = '"12"',
  time = '1700000000',
  index = '3',
  hash = `"${HASH}"`,
  more = '',
  lists = ',"erc20Transfers":[]',
} = {}): string {
  const place = `"blockNumber":${block},"blockTimestamp":${time},"blockHash":"${HASH}","chainId":"1"`
  return `{"nativeTransaction":{${place},"blockIndex":${index},"txHash":${hash}${more}}${lists}}`
}

/** Reads a page with this text, whatever its blocks. */
function read(text: string) {
  const range = { from: 0, to: Number.MAX_SAFE_INTEGER }
  const page = readPage(Buffer.from(text), { range, cutoffMs: Number.POSITIVE_INFINITY, order: 'asc' })
  const keys = page.keys.map(({ block, hash, second, lastMs }) => ({ block, hash, second, lastMs }))
  return { items: page.items, keys, next: page.next }
}

const isMalformed = expect.objectContaining({ code: 'PAGE_MALFORMED' })

const listingOf = (...items: string[]) => `{"transactions":[${items.join(',')}]}`

test('reads listings of the real chain like JSON.parse', async () => {
  let items = 0
  for (const wallet of demoWallets) {
    const url = `/v1/chains/43114/addresses/${wallet}/transactions?pageSize=100&sortOrder=asc`
    const { body } = await service.handle({ method: 'GET', url, headers: {} })
    const listing = read(String(body))
    expect(listing).toEqual(parsedListing(String(body)))
    items += listing.items
  }
  expect(items).toBeGreaterThan(400)
})

test.for([
  { what: 'no items', text: '{"transactions":[]}' },
  { what: 'a token before the items', text: '{"nextPageToken":"a b","transactions":[]}' },
  { what: 'a token after the items', text: '{"transactions":[],"nextPageToken":"é\\n\\u0041"}' },
  { what: 'a token that is null', text: '{"nextPageToken":null,"transactions":[]}' },
  { what: 'an empty token', text: '{"transactions":[],"nextPageToken":""}' },
  { what: 'a line break at the end', text: `${listingOf(itemOf())}\n` },
  { what: 'whitespace at the end', text: `${listingOf(itemOf())} \t\r\n` },
  { what: 'two items', text: listingOf(itemOf(), itemOf({ block: '"13"' })) },
  { what: 'times in milliseconds', text: listingOf(itemOf({ time: '1,"blockTimestampMilliseconds":1234' })) },
  { what: 'an unknown member', text: listingOf(itemOf({ time: '1,"minDelay":{"a":[1]},"b":null' })) },
  { what: 'a transaction only', text: listingOf(itemOf({ lists: '' })) },
  {
    what: 'characters of all kinds',
    text: listingOf(itemOf({ more: ',"from":{"name":"漢 é \\"\\ud83d"}' })),
  },
  { what: 'numbers of all kinds', text: listingOf(itemOf({ more: ',"v":[0,-1,1.5,-0.1e-9,2E+3,10]' })) },
  {
    what: 'nested lists and objects',
    text: listingOf(itemOf({ lists: ',"a":[{"b":{"c":[1,2]},"e":{}},[[]],{}],"f":true' })),
  },
])('reads $what like JSON.parse', ({ text }) => {
  expect(read(text)).toEqual(parsedListing(text))
})

test.for([
  { what: 'that is truncated', text: listingOf(itemOf()).slice(0, -1) },
  { what: 'followed by more text', text: `${listingOf(itemOf())}}` },
  ...['\u00a0', '\ufeff', '\u2028', '\u000b', '\f'].map((blank) => ({
    what: `followed by ${JSON.stringify(blank)}`,
    text: listingOf(itemOf()) + blank,
  })),
  { what: 'with a comma at the end', text: listingOf(itemOf(), '') },
  { what: 'with a comma at the beginning', text: listingOf('', itemOf()) },
  { what: 'with two commas', text: listingOf(itemOf(), '', itemOf()) },
  { what: 'without a comma', text: `{"transactions":[${itemOf()}${itemOf()}]}` },
  { what: 'with another character for a comma', text: `{"transactions":[${itemOf()};${itemOf()}]}` },
  ...[
    ['a comma at the end of an object', '{"b":1,}'],
    ['a comma at the end of a list', '[1,]'],
    ['two commas in a list', '[1,,2]'],
    ['a list without a comma', '["b""c"]'],
    ['an object without a comma', '{"b":1"c":2}'],
    ['a name without quotes', '{b:1}'],
    ['a name without a value', '{"b"}'],
    ['a number with a leading zero', '01'],
    ['a number without digits after its point', '1.'],
    ['a number with a plus', '+1'],
    ['a control character', '"\u0001"'],
    ['a line break in a string', '"\n"'],
    ['an unknown escape', '"\\x"'],
    ['half an escape', '"\\u12"'],
    ['an unknown literal', 'nul'],
    ['nothing', ''],
  ].map(([what, value]) => ({ what: `with ${what}`, text: listingOf(itemOf({ more: `,"a":${value}` })) })),
])('rejects invalid JSON: a listing $what', ({ text }) => {
  expect(() => JSON.parse(text)).toThrow()
  expect(() => read(text)).toThrow(isMalformed)
})

test.for([
  { what: 'with whitespace', text: '{ "transactions": [] }' },
  { what: 'with other members', text: '{"transactions":[],"count":0}' },
  { what: 'with two tokens', text: '{"nextPageToken":"a","transactions":[],"nextPageToken":"b"}' },
  { what: 'with an item that is null', text: listingOf('null') },
  { what: 'with an item whose block is a number', text: listingOf(itemOf({ block: '12' })) },
  { what: 'with a block above 2^53', text: listingOf(itemOf({ block: '"9007199254740993"' })) },
  { what: 'with an invalid block', text: listingOf(itemOf({ block: '"0x1"' })) },
  { what: 'with a time after the year 9999', text: listingOf(itemOf({ time: '253402300800' })) },
  { what: 'with a time before 1970', text: listingOf(itemOf({ time: '-1' })) },
  { what: 'with a position above 32 bits', text: listingOf(itemOf({ index: '2147483648' })) },
  { what: 'with an empty hash', text: listingOf(itemOf({ hash: '""' })) },
  { what: 'with a duplicate block in an item', text: listingOf(itemOf({ more: ',"blockNumber":"99"' })) },
  { what: 'with a duplicate hash in an item', text: listingOf(itemOf({ more: ',"txHash":""' })) },
  { what: 'with an escaped member name in an item', text: listingOf(itemOf({ more: ',"txH\\u0061sh":""' })) },
  {
    what: 'with a duplicate transaction in an item',
    text: listingOf(itemOf({ lists: ',"nativeTransaction":{}' })),
  },
  {
    what: 'with a deeply nested item',
    text: listingOf(itemOf({ lists: `,"a":${'['.repeat(9)}${']'.repeat(9)}` })),
  },
  { what: 'with a long item', text: listingOf(itemOf({ more: `,"a":"${'x'.repeat(2_000_000)}"` })) },
])('reads unusual text like JSON.parse: a listing $what', ({ text }) => {
  expect(read(text)).toEqual(parsedListing(text))
})

test.for([
  { what: 'a number as token', text: '{"transactions":[],"nextPageToken":5}' },
  { what: 'null', text: 'null' },
])('rejects JSON that is not a listing: $what', ({ text }) => {
  expect(() => read(text)).toThrow(isMalformed)
})

test.for([
  { what: 'much text', value: JSON.stringify('x"\n'.repeat(300_000)) },
  { what: 'many numbers', value: JSON.stringify(Array.from({ length: 900_000 }, () => 1)) },
  { what: 'many objects', value: JSON.stringify(Array.from({ length: 150_000 }, () => ({ a: 'b' }))) },
])('accepts an item with $what, and rejects it if it is corrupted', ({ value }) => {
  const text = listingOf(itemOf({ lists: `,"a":${value}` }))
  expect(read(text).items).toBe(1)
  expect(() => read(`${text.slice(0, -3)}#${text.slice(-3)}`)).toThrow(isMalformed)
})
