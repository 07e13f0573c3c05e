import { expect, test } from 'vitest'
import { keyOfItem } from '../../src/core/item-key.ts'

const NATIVE = { blockNumber: '7', blockIndex: 1, txHash: '0xAB', blockTimestamp: 1_700_000_000 }

test.for([undefined, null, ''])('a time in milliseconds that is %j leaves that in seconds', (ms) => {
  const nativeTransaction = { ...NATIVE, blockTimestampMilliseconds: ms }
  expect(keyOfItem({ nativeTransaction })).toEqual({
    ...{ block: 7, index: 1, hash: '0xab', timeMs: 1_700_000_000_000 },
    ...{ lastMs: 1_700_000_000_999, second: 1_700_000_000 },
  })
})

test('a time in milliseconds that is none is a reason', () => {
  const nativeTransaction = { ...NATIVE, blockTimestampMilliseconds: 'soon' }
  expect(keyOfItem({ nativeTransaction })).toBe('blockTimestamp is not a time: 1700000000')
})
