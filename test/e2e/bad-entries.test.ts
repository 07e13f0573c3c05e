import { describe, expect } from 'vitest'
import type { TableName } from '../../src/core/table/index.ts'
import type { TextRow } from '../helpers/read-output.ts'
import { testSample } from '../helpers/test-sample.ts'
import { baselineRows, corruptedRun, type Fields, rowsOf } from './corrupted-run.ts'

/** Overrides fields of every entry of a list. */
const entries = (list: string, fields: Fields | null) => (item: Fields) => ({
  ...item,
  [list]: ((item[list] ?? []) as Fields[]).map((entry) => fields && { ...entry, ...fields }),
})

describe('rejects only the entry that cannot be normalized', () => {
  testSample<{ table: TableName; list: string; fields: Fields | null; reason: RegExp }>(
    5,
    [
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
      {
        table: 'erc1155_transfers',
        list: 'erc1155Transfers',
        fields: { logIndex: true },
        reason: /logIndex/,
      },
      { table: 'erc1155_transfers', list: 'erc1155Transfers', fields: { value: 'many' }, reason: /value/ },
      {
        table: 'internal_transactions',
        list: 'internalTransactions',
        fields: { value: null },
        reason: /value/,
      },
    ],
    '$table with $fields',
    async ({ table, list, fields, reason }) => {
      const calm = await baselineRows()
      const hash = calm[table][0]?.transaction_hash ?? ''
      const { output, rejects } = await corruptedRun(hash, entries(list, fields))
      const rows = await rowsOf(output)
      const ofVictim = (all: TextRow[]) => all.filter((row) => row.transaction_hash === hash)
      expect(ofVictim(calm[table]).length).toBeGreaterThan(0)
      expect(ofVictim(rows[table])).toEqual([])
      expect(ofVictim(rows.transactions)).toEqual(ofVictim(calm.transactions))
      expect(new Set(rejects.map((reject) => reject.list))).toEqual(new Set([list]))
      for (const { reason: found, transaction_hash } of rejects)
        expect([hash, found]).toEqual([transaction_hash, expect.stringMatching(reason)])
    },
  )
})
