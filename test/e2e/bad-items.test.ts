import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { addresses, faultyRun } from '../helpers/faulty-run.ts'
import { readManifest } from '../helpers/read-output.ts'
import { testSample } from '../helpers/test-sample.ts'
import { baselineRows, corruptedRun, type Fields, rowsOf } from './corrupted-run.ts'

const native = (fields: Fields) => (item: Fields) => ({
  ...item,
  nativeTransaction: { ...(item.nativeTransaction as Fields), ...fields },
})
const field = (fields: Fields) => (item: Fields) => ({ ...item, ...fields })

describe('rejects the whole item if it cannot be normalized', () => {
  testSample<{ what: string; spoil: (item: Fields) => unknown; reason: RegExp }>(
    5,
    [
      { what: 'null', spoil: () => null, reason: /nativeTransaction is missing/ },
      { what: 'no txHash', spoil: native({ txHash: undefined }), reason: /txHash is missing: absent/ },
      { what: 'blockNumber abc', spoil: native({ blockNumber: 'abc' }), reason: /blockNumber .*"abc"/ },
      { what: 'no blockHash', spoil: native({ blockHash: null }), reason: /blockHash/ },
      {
        what: 'value 2^256',
        spoil: native({ value: String(2n ** 256n) }),
        reason: /value is not .*256 bits/,
      },
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
      { what: 'an empty txHash', spoil: native({ txHash: '' }), reason: /txHash is missing/ },
      { what: 'blockNumber -1', spoil: native({ blockNumber: -1 }), reason: /blockNumber .*-1/ },
      { what: 'blockNumber 1.5', spoil: native({ blockNumber: '1.5' }), reason: /blockNumber .*1\.5/ },
      { what: 'blockNumber 2^80', spoil: native({ blockNumber: String(2n ** 80n) }), reason: /blockNumber/ },
      {
        what: 'blockIndex 2^31',
        spoil: native({ blockIndex: 2 ** 31 }),
        reason: /blockIndex is not an int32/,
      },
      {
        what: 'no blockTimestamp',
        spoil: native({ blockTimestamp: null, blockTimestampMilliseconds: null }),
        reason: /blockTimestamp/,
      },
      { what: 'value as an inexact number', spoil: native({ value: 1e18 }), reason: /value is not/ },
      { what: 'from as a text', spoil: native({ from: '0xaa' }), reason: /from is not an object/ },
    ],
    'with $what',
    async ({ spoil, reason }) => {
      const hash = (await baselineRows()).transactions[7]?.transaction_hash ?? ''
      const { output, rejects } = await corruptedRun(hash, spoil)
      expect(
        Object.values(await rowsOf(output))
          .flat()
          .filter((row) => row.transaction_hash === hash),
      ).toEqual([])
      for (const reject of rejects) {
        expect(reject.reason).toMatch(reason)
        expect(addresses).toContain(reject.wallet_address)
        expect(reject.list).toBeNull()
      }
    },
  )
})

test('writes no rejects file if nothing was rejected', async () => {
  const { output } = await faultyRun()
  expect(existsSync(join(output, 'rejects.ndjson'))).toBe(false)
  expect(readManifest(output).rejects).toBe(0)
})
