import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { parseBytes, toText } from '../../../src/core/platform/byte-text.ts'
import {
  isThrottled,
  readBlockNumber,
  readQuantity,
  readRecords,
} from '../../../src/sources/explorer-api/answer.ts'
import { composeBody } from '../../../src/sources/explorer-api/compose-page.ts'
import { etherscan } from '../../../src/sources/explorer-api/explorer-api.ts'
import { LISTINGS, type ListingName } from '../../../src/sources/explorer-api/item.ts'
import { readAnswer, requireRecords } from '../../../src/sources/explorer-api/record-index.ts'
import type { Fields } from '../../../src/sources/fields.ts'

const FOLDER = new URL('../../fixtures/explorer/', import.meta.url)

type Recorded = { file: string; action: string; part: string; origin: string }
const RECORDED = JSON.parse(readFileSync(new URL('index.json', FOLDER), 'utf8')) as Recorded[]

/** The bytes of an answer. Of some, only the result was recorded. */
function answerOf({ file, part }: Recorded): Buffer {
  const bytes = readFileSync(new URL(file, FOLDER))
  return part.startsWith('result') ? Buffer.from(`{"status":"1","message":"OK","result":${bytes}}`) : bytes
}

type Row = Readonly<Record<string, unknown>>

/** The rows that one record alone becomes, each with the columns of its transaction and of its transfer. */
function rowsOf(listing: ListingName, record: Fields): Row[] {
  const lists = { normal: [], internal: [], erc20: [], erc721: [], erc1155: [] }
  const block = Number(record.blockNumber)
  // Lists of a transaction's internal transactions do not name it.
  const isNamed = 'hash' in record || 'transactionHash' in record
  const result = [isNamed ? record : { ...record, hash: '0xabc' }]
  const text = JSON.stringify({ status: '1', message: 'OK', result })
  const answer = requireRecords(readAnswer(Buffer.from(text, 'latin1')))
  const body = composeBody({ ...lists, [listing]: [{ answer, at: 0 }] }, { from: block, to: block + 1 })
  const [item] = (etherscan.itemsIn(parseBytes(body)) ?? []) as unknown[]
  const view = etherscan.readView(item, { chain: '1', onBadEntry: (...bad) => expect(bad).toEqual([]) })
  if (typeof view === 'string') throw new Error(view)
  const { native, internal, ...transfers } = view
  const shared = { ...native.prefix, ...native.row }
  const entries: Row[] = [
    ...internal.map(({ row }) => row),
    ...[transfers.erc20, transfers.erc721, transfers.erc1155].flat(),
  ]
  return entries.length === 0 ? [shared] : entries.map((row) => ({ ...shared, ...row }))
}

const text = (value: unknown) => toText(String(value))
const lower = (value: unknown) => (value === '' || value === null ? null : text(value).toLowerCase())
const orNull = (value: unknown) => (value === '' || value === null ? null : text(value))
/** The input of a call begins with its selector, also where Blockscout states `0x` as the method. */
const selector = (value: unknown, { input }: Fields) => {
  const called = text(input).slice(0, 10)
  if (/^0x[\da-f]{8}$/.test(called)) return called
  return [null, '', '0x'].includes(value as string) ? null : `0x${text(value).replace(/^0x/, '')}`
}

type Expected = (value: unknown, record: Fields) => unknown
type Column = readonly [column: string, expected: Expected]

const whole: Expected = (value) => Number(value)
const digits: Expected = (value) => text(value)
/** Receivers of creations are empty; the created contract takes their place. */
const receiver: Expected = (value, { contractAddress = '' }) => lower(value) ?? lower(contractAddress)

/** The column of each field, and what it contains. */
const POSITION: Readonly<Record<string, Column>> = {
  blockNumber: ['block_number', whole],
  timeStamp: ['block_timestamp', (value) => Number(value) * 1000],
  hash: ['transaction_hash', lower],
  blockHash: ['block_hash', lower],
  transactionIndex: ['transaction_index', whole],
  nonce: ['nonce', whole],
  gas: ['gas_limit', whole],
  gasUsed: ['gas_used', whole],
  gasPrice: ['effective_gas_price', digits],
  methodId: ['method_id', (value, record) => (record.to === '' ? null : selector(value, record))],
  functionName: ['method_name', orNull],
  from: ['from_address', lower],
  to: ['to_address', lower],
  value: ['value', digits],
}
const TOKEN: Readonly<Record<string, Column>> = {
  ...POSITION,
  contractAddress: ['token_address', lower],
  tokenID: ['token_id', digits],
  logIndex: ['log_index', whole],
}
const NAMED: Readonly<Record<string, Column>> = {
  ...TOKEN,
  tokenName: ['token_name', orNull],
  tokenSymbol: ['token_symbol', orNull],
}
const COLUMNS: Readonly<Record<ListingName, Readonly<Record<string, Column>>>> = {
  normal: {
    ...POSITION,
    to: ['to_address', receiver],
    isError: ['success', (value) => value === '0'],
    txreceipt_status: ['status', (value, { isError }) => orNull(value) ?? (isError === '0' ? '1' : '0')],
  },
  internal: {
    blockNumber: ['block_number', whole],
    timeStamp: ['block_timestamp', (value) => Number(value) * 1000],
    hash: ['transaction_hash', lower],
    transactionHash: ['transaction_hash', lower],
    from: ['from_address', lower],
    to: ['to_address', receiver],
    value: ['value', digits],
    gas: ['gas_limit', whole],
    gasUsed: ['gas_used', whole],
    isError: ['reverted', (value) => value === '1'],
    type: ['internal_type', (value, { callType }) => text(callType ?? value).toUpperCase()],
  },
  erc20: { ...NAMED, tokenDecimal: ['token_decimals', whole] },
  erc721: NAMED,
  erc1155: { ...TOKEN, tokenValue: ['value', digits] },
}

/** Fields that no table has a column for, or that other fields of the record describe. */
const WITHOUT_COLUMN: Readonly<Record<ListingName, readonly string[]>> = {
  normal: ['confirmations', 'cumulativeGasUsed', 'input', 'contractAddress', 'gasPriceBid'],
  internal: ['contractAddress', 'callType', 'errCode', 'index', 'input', 'traceId', 'transactionIndex'],
  erc20: ['confirmations', 'cumulativeGasUsed', 'input'],
  erc721: ['confirmations', 'cumulativeGasUsed', 'input', 'tokenDecimal'],
  erc1155: ['confirmations', 'cumulativeGasUsed', 'input', 'tokenName', 'tokenSymbol'],
}

const listingOf = (action: string) =>
  (Object.keys(LISTINGS) as ListingName[]).find((name) => LISTINGS[name] === action)

const withRecords = RECORDED.flatMap((recorded) => {
  const listing = listingOf(recorded.action)
  const { result } = JSON.parse(answerOf(recorded).toString()) as { result?: unknown }
  return listing !== undefined && Array.isArray(result) && result.length > 0 ? [{ ...recorded, listing }] : []
})

describe('recorded answers', () => {
  test.for(withRecords.filter(({ file }) => !/not-processed/.test(file)))(
    'every value of $file is in its column',
    (recorded) => {
      const { listing } = recorded
      for (const record of readRecords(answerOf(recorded))) {
        if (String(record.hash).startsWith('GENESIS')) continue
        const rows = rowsOf(listing, record)
        expect(rows).toHaveLength(1)
        const [row = {}] = rows
        for (const [field, value] of Object.entries(record)) {
          const found = COLUMNS[listing][field]
          if (found === undefined) {
            expect(WITHOUT_COLUMN[listing]).toContain(field)
            continue
          }
          const [column, expected] = found
          const cell = row[column]
          expect({ field, cell: typeof cell === 'string' ? toText(cell) : cell }).toEqual({
            field,
            cell: expected(value, record),
          })
        }
      }
    },
  )

  test.for(RECORDED.filter(({ file }) => /-empty\.json$/.test(file) && !/not-processed/.test(file)))(
    '$file is an empty list',
    (recorded) => {
      expect(readRecords(answerOf(recorded))).toEqual([])
    },
  )

  test.for([
    { file: 'etherscan-v2-txlist-chain-not-in-plan.json', code: 'REQUEST_REFUSED' },
    { file: 'routescan-txlist-chain-not-supported.json', code: 'REQUEST_REFUSED' },
    { file: 'blockscout-txlistinternal-not-processed.json', code: 'SERVICE_UNAVAILABLE' },
    { file: 'blockscout-txlistinternal-not-processed-empty.json', code: 'SERVICE_UNAVAILABLE' },
  ])('$file is no list: $code', ({ file, code }) => {
    const answer = readFileSync(new URL(file, FOLDER))
    expect(() => readRecords(answer)).toThrow(expect.objectContaining({ code }))
  })

  test('a rate limit in the body of a successful answer is a refusal for the rate limiter', () => {
    const body = readFileSync(new URL('etherscan-v2-rate-limit.json', FOLDER))
    expect(isThrottled({ status: 200, headers: {}, body })).toBe(true)
    const other = readFileSync(new URL('etherscan-v2-txlist-chain-not-in-plan.json', FOLDER))
    expect(isThrottled({ status: 200, headers: {}, body: other })).toBe(false)
  })

  test.for([
    { file: 'etherscan-v2-getblocknobytime.json', block: 778_482 },
    { file: 'blockscout-getblocknobytime.json', block: 20_225_179 },
  ])('$file is a block number', ({ file, block }) => {
    expect(readBlockNumber(readFileSync(new URL(file, FOLDER)))).toBe(block)
  })

  test.for(RECORDED.filter(({ action }) => ['balance', 'tokenbalance', 'eth_blockNumber'].includes(action)))(
    '$file is a number',
    (recorded) => {
      expect(readQuantity(answerOf(recorded))).toBeGreaterThanOrEqual(0n)
    },
  )
})
