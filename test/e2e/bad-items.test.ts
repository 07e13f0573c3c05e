import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { addresses, faultyRun } from '../helpers/faulty-run.ts'
import { readManifest, type TextRow } from '../helpers/read-output.ts'
import { baselineRows, corruptedRun, type Fields, rowsOf } from './corrupted-run.ts'

// What each field must be is tested in transform/flatten-rejects.test.ts.

const native = (fields: Fields) => (item: Fields) => ({
  ...item,
  nativeTransaction: { ...(item.nativeTransaction as Fields), ...fields },
})

const withHash = (rows: TextRow[], hash: string) => rows.filter((row) => row.transaction_hash === hash)

describe('rejects the whole item if it cannot be normalized', () => {
  test.for<{ what: string; spoil: (item: Fields) => unknown; reason: RegExp }>([
    { what: 'null', spoil: () => null, reason: /nativeTransaction is missing/ },
    {
      what: 'a text as nativeTransaction',
      spoil: (item) => ({ ...item, nativeTransaction: 'x' }),
      reason: /nativeTransaction/,
    },
    { what: 'no txHash', spoil: native({ txHash: undefined }), reason: /txHash is missing: absent/ },
    { what: 'value 2^256', spoil: native({ value: String(2n ** 256n) }), reason: /value is not .*256 bits/ },
  ])('with $what', async ({ spoil, reason }) => {
    const hash = (await baselineRows()).transactions[7]?.transaction_hash ?? ''
    const { output, rejects } = await corruptedRun(hash, spoil)
    expect(withHash(Object.values(await rowsOf(output)).flat(), hash)).toEqual([])
    for (const reject of rejects) {
      expect(reject.reason).toMatch(reason)
      expect(addresses).toContain(reject.wallet_address)
      expect(reject.list).toBeNull()
    }
  })
})

test.for([
  { table: 'erc20_transfers', list: 'erc20Transfers', fields: { logIndex: 'x' }, reason: /logIndex/ },
  { table: 'erc1155_transfers', list: 'erc1155Transfers', fields: null, reason: /not an object/ },
  {
    table: 'internal_transactions',
    list: 'internalTransactions',
    fields: { value: null },
    reason: /value/,
  },
] as const)(
  'rejects only the entry that cannot be normalized: $table with $fields',
  async ({ table, list, fields, reason }) => {
    const calm = await baselineRows()
    const hash = calm[table][0]?.transaction_hash ?? ''
    const { output, rejects } = await corruptedRun(hash, (item) => ({
      ...item,
      [list]: ((item[list] ?? []) as Fields[]).map((entry) => fields && { ...entry, ...fields }),
    }))
    const rows = await rowsOf(output)
    expect(withHash(calm[table], hash).length).toBeGreaterThan(0)
    expect(withHash(rows[table], hash)).toEqual([])
    expect(withHash(rows.transactions, hash)).toEqual(withHash(calm.transactions, hash))
    expect(new Set(rejects.map((reject) => reject.list))).toEqual(new Set([list]))
    for (const { reason: found, transaction_hash } of rejects)
      expect([hash, found]).toEqual([transaction_hash, expect.stringMatching(reason)])
  },
)

test('writes no rejects file if nothing was rejected', async () => {
  const { output } = await faultyRun()
  expect(existsSync(join(output, 'rejects.ndjson'))).toBe(false)
  expect(readManifest(output).rejects).toBe(0)
})
