import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, test } from 'vitest'
import { run } from '../../src/run.ts'
import { TABLE_NAMES, type TableName } from '../../src/table/index.ts'
import { addresses, type FaultyResult, faultyRun } from '../helpers/faulty-run.ts'
import { testJob } from '../helpers/jobs.ts'
import { readCsvTable, readManifest, type TextRow } from '../helpers/read-output.ts'
import { suiteFolder } from '../helpers/temp-folder.ts'
import { breakWhere, changed } from './faults.ts'

type Fields = Record<string, unknown>
type Rows = Record<TableName, TextRow[]>
type Reject = { wallet_address: string; transaction_hash: string | null; list: string | null; reason: string }

const calmFolder = suiteFolder()
let calm: Rows

beforeAll(async () => {
  await run([testJob({ addresses, output: calmFolder })])
  calm = await rowsOf(calmFolder)
})

async function rowsOf(folder: string): Promise<Rows> {
  const rows = TABLE_NAMES.map(async (table) => [table, await readCsvTable(folder, table)] as const)
  return Object.fromEntries(await Promise.all(rows)) as Rows
}

/** The calm rows of every transaction but one. */
function without(rows: Rows, hash: string): Rows {
  const others = TABLE_NAMES.map((table) => [
    table,
    rows[table].filter((row) => row['transaction_hash'] !== hash),
  ])
  return Object.fromEntries(others) as Rows
}

function rejectsOf(folder: string): Reject[] {
  const text = readFileSync(join(folder, 'rejects.ndjson'), 'utf8')
  return text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as Reject)
}

/** Runs with one transaction spoilt in whatever view it comes; checks what every such run has in common. */
async function spoiltRun(
  hash: string,
  spoil: (item: Fields) => unknown,
): Promise<FaultyResult & { rejects: Reject[] }> {
  const spoilPage = changed(({ transactions, ...page }) => ({
    ...page,
    transactions: transactions.map((item) => (hashOf(item) === hash ? spoil(item) : item)),
  }))
  const result = await faultyRun(breakWhere(() => true, spoilPage))
  expect(result.code).toBe('RECORDS_REJECTED')
  const rejects = rejectsOf(result.output)
  expect(readManifest(result.output).rejects).toBe(rejects.length)
  expect(result.jobs[0]?.figures.rejects).toBe(rejects.length)
  expect(without(await rowsOf(result.output), hash)).toEqual(without(calm, hash))
  return { ...result, rejects }
}

function hashOf({ nativeTransaction }: { nativeTransaction: Fields }): string {
  return String(nativeTransaction['txHash']).toLowerCase()
}

const native = (fields: Fields) => (item: Fields) => ({
  ...item,
  nativeTransaction: { ...(item['nativeTransaction'] as Fields), ...fields },
})
const field = (fields: Fields) => (item: Fields) => ({ ...item, ...fields })

describe('an item that cannot be normalized is set aside whole', () => {
  test.for<{ what: string; spoil: (item: Fields) => unknown; reason: RegExp }>([
    { what: 'null', spoil: () => null, reason: /nativeTransaction is missing/ },
    { what: 'a number', spoil: () => 5, reason: /nativeTransaction is missing/ },
    { what: 'a list', spoil: () => [], reason: /nativeTransaction is missing/ },
    {
      what: 'no nativeTransaction',
      spoil: field({ nativeTransaction: undefined }),
      reason: /nativeTransaction/,
    },
    {
      what: 'a text as nativeTransaction',
      spoil: field({ nativeTransaction: 'x' }),
      reason: /nativeTransaction/,
    },
    { what: 'no txHash', spoil: native({ txHash: undefined }), reason: /txHash is missing: absent/ },
    { what: 'an empty txHash', spoil: native({ txHash: '' }), reason: /txHash is missing/ },
    { what: 'blockNumber abc', spoil: native({ blockNumber: 'abc' }), reason: /blockNumber .*"abc"/ },
    { what: 'blockNumber -1', spoil: native({ blockNumber: -1 }), reason: /blockNumber .*-1/ },
    { what: 'blockNumber 1.5', spoil: native({ blockNumber: '1.5' }), reason: /blockNumber .*1\.5/ },
    { what: 'blockNumber 2^80', spoil: native({ blockNumber: String(2n ** 80n) }), reason: /blockNumber/ },
    { what: 'blockIndex 2^31', spoil: native({ blockIndex: 2 ** 31 }), reason: /blockIndex is not an int32/ },
    {
      what: 'no blockTimestamp',
      spoil: native({ blockTimestamp: null, blockTimestampMilliseconds: null }),
      reason: /blockTimestamp/,
    },
    { what: 'no blockHash', spoil: native({ blockHash: null }), reason: /blockHash/ },
    {
      what: 'gasUsed 2^63',
      spoil: native({ gasUsed: String(2n ** 63n) }),
      reason: /gasUsed is not an int64/,
    },
    { what: 'value 2^256', spoil: native({ value: String(2n ** 256n) }), reason: /value is not .*256 bits/ },
    { what: 'value as an inexact number', spoil: native({ value: 1e18 }), reason: /value is not/ },
    {
      what: 'a fee beyond 256 bits',
      spoil: native({ gasUsed: '9', gasPrice: String(2n ** 255n) }),
      reason: /gasUsed × gasPrice/,
    },
    { what: 'from as a text', spoil: native({ from: '0xaa' }), reason: /from is not an object/ },
    {
      what: 'erc20Transfers as an object',
      spoil: field({ erc20Transfers: {} }),
      reason: /erc20Transfers is not a list/,
    },
    {
      what: 'erc721Transfers as a text',
      spoil: field({ erc721Transfers: 'none' }),
      reason: /erc721Transfers is not a list/,
    },
    {
      what: 'internalTransactions as a number',
      spoil: field({ internalTransactions: 3 }),
      reason: /internalTransactions/,
    },
  ])('with $what', async ({ spoil, reason }) => {
    const hash = calm.transactions[7]?.['transaction_hash'] ?? ''
    const { output, rejects } = await spoiltRun(hash, spoil)
    expect(
      Object.values(await rowsOf(output))
        .flat()
        .filter((row) => row['transaction_hash'] === hash),
    ).toEqual([])
    for (const reject of rejects) {
      expect(reject.reason).toMatch(reason)
      expect(addresses).toContain(reject.wallet_address)
      expect(reject.list).toBeNull()
    }
  })
})

/** The same fields put over every entry of a list. */
const entries = (list: string, fields: Fields | null) => (item: Fields) => ({
  ...item,
  [list]: ((item[list] ?? []) as Fields[]).map((entry) => fields && { ...entry, ...fields }),
})

describe('an entry that cannot be normalized is set aside alone', () => {
  test.for<{ table: TableName; list: string; fields: Fields | null; reason: RegExp }>([
    { table: 'erc20_transfers', list: 'erc20Transfers', fields: { logIndex: 'x' }, reason: /logIndex/ },
    { table: 'erc20_transfers', list: 'erc20Transfers', fields: { logIndex: null }, reason: /logIndex/ },
    { table: 'erc20_transfers', list: 'erc20Transfers', fields: { logIndex: 2 ** 31 }, reason: /logIndex/ },
    {
      table: 'erc20_transfers',
      list: 'erc20Transfers',
      fields: { value: String(2n ** 256n) },
      reason: /value/,
    },
    { table: 'erc20_transfers', list: 'erc20Transfers', fields: { value: '-1' }, reason: /value/ },
    { table: 'erc20_transfers', list: 'erc20Transfers', fields: { erc20Token: null }, reason: /address/ },
    { table: 'erc20_transfers', list: 'erc20Transfers', fields: null, reason: /not an object/ },
    { table: 'erc721_transfers', list: 'erc721Transfers', fields: { logIndex: 1.5 }, reason: /logIndex/ },
    {
      table: 'erc721_transfers',
      list: 'erc721Transfers',
      fields: { erc721Token: [] },
      reason: /erc721Token/,
    },
    { table: 'erc1155_transfers', list: 'erc1155Transfers', fields: { logIndex: true }, reason: /logIndex/ },
    { table: 'erc1155_transfers', list: 'erc1155Transfers', fields: { value: 'many' }, reason: /value/ },
    {
      table: 'internal_transactions',
      list: 'internalTransactions',
      fields: { isReverted: 'no' },
      reason: /isReverted/,
    },
    {
      table: 'internal_transactions',
      list: 'internalTransactions',
      fields: { value: null },
      reason: /value/,
    },
  ])('$table with $fields', async ({ table, list, fields, reason }) => {
    const hash = calm[table][0]?.['transaction_hash'] ?? ''
    const { output, rejects } = await spoiltRun(hash, entries(list, fields))
    const rows = await rowsOf(output)
    const ofVictim = (all: TextRow[]) => all.filter((row) => row['transaction_hash'] === hash)
    expect(ofVictim(calm[table]).length).toBeGreaterThan(0)
    expect(ofVictim(rows[table])).toEqual([])
    expect(ofVictim(rows.transactions)).toEqual(ofVictim(calm.transactions))
    expect(new Set(rejects.map((reject) => reject.list))).toEqual(new Set([list]))
    for (const { reason: found, transaction_hash } of rejects)
      expect([hash, found]).toEqual([transaction_hash, expect.stringMatching(reason)])
  })
})

test('writes no rejects file where nothing was rejected', () => {
  expect(existsSync(join(calmFolder, 'rejects.ndjson'))).toBe(false)
  expect(readManifest(calmFolder).rejects).toBe(0)
})
