import { expect, test } from 'vitest'
import { toText } from '../../../src/core/platform/byte-text.ts'
import {
  composeBody,
  type Located,
  nameLocated,
  nameRecords,
  parsePage,
} from '../../../src/sources/explorer-api/compose-page.ts'
import { LISTING_NAMES, type ListingName } from '../../../src/sources/explorer-api/item.ts'
import { readAnswer, recordAt, requireRecords } from '../../../src/sources/explorer-api/record-index.ts'
import type { RecordIndex } from '../../../src/sources/source.ts'
import { type FakeRecord, recordAt as record } from './fake-explorer.ts'

const answerOf = (text: string): RecordIndex => requireRecords(readAnswer(Buffer.from(text)))
const envelope = (result: string) => `{"status":"1","message":"OK","result":${result}}`

/** Token names that contain what separates records, or begin or end like it. */
const NAMES = [
  '},{',
  '"},{',
  '"},{"',
  '\\',
  'a\\',
  ':',
  '}]',
  '[{',
  'été 代幣',
  '',
  '{"result":[{"a":"b"},{"c":"d"}]}',
]

test.for([
  { layout: 'as explorers write it', write: (list: unknown) => JSON.stringify(list) },
  { layout: 'with spaces', write: (list: unknown) => JSON.stringify(list, null, 1) },
  { layout: 'with numbers at the end of records', write: numbersLast },
])('the bytes of each record are found in an answer $layout, whatever its names are', ({ write }) => {
  for (const names of [NAMES, ...NAMES.map((name) => [name]), [...NAMES, ...NAMES]]) {
    const records = names.map((name, at) => record(at, `${at}`, { tokenName: name }))
    const answer = answerOf(envelope(write(records)))
    const found = records.map((_, at) => recordAt(answer, at))
    expect(found.map(({ hash, tokenName }) => [hash, toText(String(tokenName))])).toEqual(
      records.map(({ hash, tokenName }) => [hash, tokenName]),
    )
  }
})

/** A name before a number: `"},{"` is then content only. */
function numbersLast(list: unknown): string {
  return JSON.stringify((list as FakeRecord[]).map((fields) => ({ ...fields, confirmations: 7 })))
}

test('records are found in a list that an answer states before other fields, or twice', () => {
  const records = JSON.stringify([record(1, 'aa'), record(2, 'bb')])
  for (const text of [
    `{"result":${records},"status":"1","message":"}]"}`,
    `{"result":[],"status":"1","message":"OK","result":${records}}`,
    `{"status":"1","more":[{"a":"b"},{"c":"d"}],"message":"OK","result":${records}}`,
  ])
    expect([0, 1].map((at) => recordAt(answerOf(text), at).hash)).toEqual(['0xaa', '0xbb'])
})

test('the bytes of each record are found if records contain lists of objects', () => {
  const parts = [{ a: '1' }, { b: '2' }]
  const records = [{ ...record(1, 'aa'), parts, last: 5 }, record(2, 'bb'), record(3, 'cc')]
  for (const text of [
    envelope(JSON.stringify(records)),
    `{"status":"1","message":"OK","more":{"result":[{"a":"b"}]},"result":${JSON.stringify(records.slice(1))}}`,
  ]) {
    const answer = answerOf(text)
    const found = [...answer.blocks.keys()].map((at) => recordAt(answer, at))
    expect(found).toEqual(records.slice(-found.length))
  }
})

test('a page is the same whether its answers were parsed by this thread or its body is', () => {
  const lists = {
    normal: [record(1, 'aa', { value: '\u00e9\ud800' }), record(3, 'Cc')],
    internal: [{ blockNumber: '2', timeStamp: '7', transactionHash: '0xBB' }, record(3, 'cc')],
    erc20: [record(1, 'aa', { tokenName: '代幣' }), { blockNumber: 'x', timeStamp: '8' }],
    erc721: [record(1, 'aa', { hash: 'GENESIS_1' })],
    erc1155: [],
  }
  const range = { from: 0, to: 10 }
  const limits = { range, cutoffMs: Number.POSITIVE_INFINITY, order: 'asc' } as const
  const read = () => {
    const records = Object.fromEntries(
      LISTING_NAMES.map((name): [ListingName, Located[]] => {
        const answer = answerOf(envelope(JSON.stringify(lists[name])))
        return [name, lists[name].map((_, at) => ({ answer, at }))]
      }),
    ) as Record<ListingName, Located[]>
    return { body: composeBody(records, range), records: nameRecords(records) }
  }
  const { body, records } = read()
  const composed = parsePage(body, { ...limits, records })
  expect(composed).toEqual(parsePage(body, limits))
  expect(composed.items).toHaveLength(4)
  // The records were used, so the body is parsed.
  expect(parsePage(body, { ...limits, records })).toEqual(composed)
})

const LIMITS = { range: { from: 0, to: 10 }, cutoffMs: Number.POSITIVE_INFINITY, order: 'asc' } as const

/** The limits of a page with these records of an answer, all of its normal transactions. */
function limitsOf(answer: RecordIndex, positions: readonly number[], dropped: readonly number[] = []) {
  const located = (list: readonly number[]) => list.map((at) => ({ answer, at }))
  const none = { internal: [], erc20: [], erc721: [], erc1155: [] }
  return {
    ...LIMITS,
    records: nameRecords({ normal: located(positions), ...none }),
    droppedRecords: nameLocated(located(dropped)),
  }
}

/** Bytes that can be read as a page only by a thread that has kept the parsed records. */
const NO_PAGE = Buffer.from('-')

test('an answer is parsed once however many answers came before, and whoever has its memory', () => {
  const padding = ' '.repeat(5_000_000)
  for (let round = 0; round < 12; round += 1) {
    const answer = answerOf(envelope(`[${JSON.stringify(record(1, 'aa'))}]${padding}`))
    structuredClone(answer.body, { transfer: [answer.body.buffer as ArrayBuffer] })
    expect(parsePage(NO_PAGE, limitsOf(answer, [0])).items).toHaveLength(1)
  }
})

test('a record without hash or block is read by the thread that has parsed it, whoever has its memory', () => {
  const records = [
    { ...record(1, 'aa'), hash: undefined },
    { ...record(2, 'bb'), blockNumber: undefined },
  ]
  const answer = answerOf(envelope(JSON.stringify(records)))
  structuredClone(answer.body, { transfer: [answer.body.buffer as ArrayBuffer] })
  const { page, keys } = parsePage(NO_PAGE, limitsOf(answer, [0, 1]))
  expect(page.bad).toBe(2)
  expect(keys).toEqual([expect.stringContaining('hash is missing'), expect.stringContaining('blockNumber')])
})

test('an answer is dropped once each of its records is in a page or is read again', () => {
  const answer = answerOf(envelope(JSON.stringify([record(1, 'aa'), record(2, 'bb'), record(3, 'cc')])))
  expect(parsePage(NO_PAGE, limitsOf(answer, [0])).items).toHaveLength(1)
  expect(parsePage(NO_PAGE, limitsOf(answer, [1], [2])).items).toHaveLength(1)
  expect(() => parsePage(NO_PAGE, limitsOf(answer, [1]))).toThrow('the page is not JSON')
})
