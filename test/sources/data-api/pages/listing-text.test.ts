import { expect, test } from 'vitest'
import { readPage } from '../../../../src/sources/data-api/pages/page.ts'
import { service } from '../../../helpers/faulty-run.ts'
import { demoWallets } from '../../../helpers/node-data.ts'
import { parsedListing } from './parsed-listing.ts'

const HASH = `0x${'ab'.repeat(32)}`

/** An item as services write it, its members as JSON text. */
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

/** What a page with this text gives, whatever its blocks. */
function read(text: string) {
  const range = { from: 0, to: Number.MAX_SAFE_INTEGER }
  const page = readPage(Buffer.from(text), { range, cutMs: Number.POSITIVE_INFINITY, order: 'asc' })
  const keys = page.keys.map(({ block, hash, second, lastMs }) => ({ block, hash, second, lastMs }))
  return { items: page.items, keys, next: page.next }
}

const isMalformed = expect.objectContaining({ code: 'PAGE_MALFORMED' })

const listingOf = (...items: string[]) => `{"transactions":[${items.join(',')}]}`

test('listings of the real chain are read to what parsing gives', async () => {
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
  { what: 'a line end', text: `${listingOf(itemOf())}\n` },
  { what: 'blanks at the end', text: `${listingOf(itemOf())} \t\r\n` },
  { what: 'two items', text: listingOf(itemOf(), itemOf({ block: '"13"' })) },
  { what: 'times in milliseconds', text: listingOf(itemOf({ time: '1,"blockTimestampMilliseconds":1234' })) },
  { what: 'a member between', text: listingOf(itemOf({ time: '1,"minDelay":{"a":[1]},"b":null' })) },
  { what: 'nothing but the transaction', text: listingOf(itemOf({ lists: '' })) },
  { what: 'letters of all kinds', text: listingOf(itemOf({ more: ',"from":{"name":"漢 é \\"\\ud83d"}' })) },
  { what: 'numbers of all kinds', text: listingOf(itemOf({ more: ',"v":[0,-1,1.5,-0.1e-9,2E+3,10]' })) },
  {
    what: 'nested lists and objects',
    text: listingOf(itemOf({ lists: ',"a":[{"b":{"c":[1,2]},"e":{}},[[]],{}],"f":true' })),
  },
])('reads $what as parsing does', ({ text }) => {
  expect(read(text)).toEqual(parsedListing(text))
})

test.for([
  { what: 'cut off', text: listingOf(itemOf()).slice(0, -1) },
  { what: 'followed by more', text: `${listingOf(itemOf())}}` },
  ...['\u00a0', '\ufeff', '\u2028', '\u000b', '\f'].map((blank) => ({
    what: `followed by ${JSON.stringify(blank)}`,
    text: listingOf(itemOf()) + blank,
  })),
  { what: 'with a comma at the end', text: listingOf(itemOf(), '') },
  { what: 'with a comma at the beginning', text: listingOf('', itemOf()) },
  { what: 'with two commas', text: listingOf(itemOf(), '', itemOf()) },
  { what: 'without a comma', text: `{"transactions":[${itemOf()}${itemOf()}]}` },
  { what: 'with another sign for a comma', text: `{"transactions":[${itemOf()};${itemOf()}]}` },
  ...[
    ['a comma at the end of an object', '{"b":1,}'],
    ['a comma at the end of a list', '[1,]'],
    ['two commas in a list', '[1,,2]'],
    ['a list without a comma', '["b""c"]'],
    ['an object without a comma', '{"b":1"c":2}'],
    ['a name without quotes', '{b:1}'],
    ['a name without a value', '{"b"}'],
    ['a number with a zero before it', '01'],
    ['a number with nothing after its point', '1.'],
    ['a number with a plus', '+1'],
    ['a control character', '"\u0001"'],
    ['a line end in text', '"\n"'],
    ['an escape that there is not', '"\\x"'],
    ['half an escape', '"\\u12"'],
    ['a word that there is not', 'nul'],
    ['nothing', ''],
  ].map(([what, value]) => ({ what: `with ${what}`, text: listingOf(itemOf({ more: `,"a":${value}` })) })),
])('refuses what is no JSON: a listing $what', ({ text }) => {
  expect(() => JSON.parse(text)).toThrow()
  expect(() => read(text)).toThrow(isMalformed)
})

test.for([
  { what: 'with blanks', text: '{ "transactions": [] }' },
  { what: 'with other members', text: '{"transactions":[],"count":0}' },
  { what: 'with two tokens', text: '{"nextPageToken":"a","transactions":[],"nextPageToken":"b"}' },
  { what: 'of an item that is null', text: listingOf('null') },
  { what: 'of an item whose block is a number', text: listingOf(itemOf({ block: '12' })) },
  { what: 'of a block beyond what is exact', text: listingOf(itemOf({ block: '"9007199254740993"' })) },
  { what: 'of a block that is none', text: listingOf(itemOf({ block: '"0x1"' })) },
  { what: 'of a time after the year 9999', text: listingOf(itemOf({ time: '253402300800' })) },
  { what: 'of a time before 1970', text: listingOf(itemOf({ time: '-1' })) },
  { what: 'of a position beyond 32 bits', text: listingOf(itemOf({ index: '2147483648' })) },
  { what: 'of a hash that is empty', text: listingOf(itemOf({ hash: '""' })) },
  { what: 'of an item with its block twice', text: listingOf(itemOf({ more: ',"blockNumber":"99"' })) },
  { what: 'of an item with its hash twice', text: listingOf(itemOf({ more: ',"txHash":""' })) },
  { what: 'of an item with a name in escapes', text: listingOf(itemOf({ more: ',"txH\\u0061sh":""' })) },
  { what: 'of an item twice in one', text: listingOf(itemOf({ lists: ',"nativeTransaction":{}' })) },
  { what: 'of a deep item', text: listingOf(itemOf({ lists: `,"a":${'['.repeat(9)}${']'.repeat(9)}` })) },
  { what: 'of a long item', text: listingOf(itemOf({ more: `,"a":"${'x'.repeat(2_000_000)}"` })) },
])('reads the unusual as parsing does: a listing $what', ({ text }) => {
  expect(read(text)).toEqual(parsedListing(text))
})

test.for([
  { what: 'with a token that is a number', text: '{"transactions":[],"nextPageToken":5}' },
  { what: 'that is null', text: 'null' },
])('refuses JSON that is no listing: a listing $what', ({ text }) => {
  expect(() => read(text)).toThrow(isMalformed)
})

test.for([
  { what: 'much text', value: JSON.stringify('x"\n'.repeat(300_000)) },
  { what: 'many numbers', value: JSON.stringify(Array.from({ length: 900_000 }, () => 1)) },
  { what: 'many objects', value: JSON.stringify(Array.from({ length: 150_000 }, () => ({ a: 'b' }))) },
])('an item of $what is taken, and refused where it is spoilt', ({ value }) => {
  const text = listingOf(itemOf({ lists: `,"a":${value}` }))
  expect(read(text).items).toBe(1)
  expect(() => read(`${text.slice(0, -3)}#${text.slice(-3)}`)).toThrow(isMalformed)
})
