import { expect, test } from 'vitest'
import { keyOfItem } from '../../../src/sources/data-api/parse-item-key.ts'

const SECOND = 1_700_000_000
const NATIVE = { blockNumber: '7', blockIndex: 1, txHash: '0xAB', blockTimestamp: SECOND }
const timesOf = (fields: object) => {
  const key = keyOfItem({ nativeTransaction: { ...NATIVE, ...fields } })
  return typeof key === 'string' ? key : [key.timeMs, key.lastMs, key.second]
}

const FROM_SECONDS = [SECOND * 1000, SECOND * 1000 + 999, SECOND]

test.for([undefined, null, '', 'soon', {}, [], true, -1, 1.5, '0x18bcfe568a0'])(
  'ignores a time in milliseconds of %j',
  (blockTimestampMilliseconds) => {
    expect(timesOf({ blockTimestampMilliseconds })).toEqual(FROM_SECONDS)
  },
)

test.for([0, '0', 1, SECOND, SECOND * 1000 - 1, (SECOND + 1) * 1000, 253_402_300_800_000])(
  'ignores a time in milliseconds of another second (%j)',
  (blockTimestampMilliseconds) => {
    expect(timesOf({ blockTimestampMilliseconds })).toEqual(FROM_SECONDS)
  },
)

test.for([SECOND * 1000, SECOND * 1000 + 1, String(SECOND * 1000 + 999)])(
  'uses a time in milliseconds within the second (%j)',
  (blockTimestampMilliseconds) => {
    const ms = Number(blockTimestampMilliseconds)
    expect(timesOf({ blockTimestampMilliseconds })).toEqual([ms, ms, SECOND])
  },
)

test('uses a time in milliseconds alone without one in seconds', () => {
  expect(timesOf({ blockTimestamp: null, blockTimestampMilliseconds: SECOND * 1000 + 5 })).toEqual([
    SECOND * 1000 + 5,
    SECOND * 1000 + 5,
    SECOND,
  ])
})

test.for([0, undefined, 'soon'])(
  'rejects a block without a time in seconds and with %j milliseconds',
  (ms) => {
    expect(timesOf({ blockTimestamp: 'x', blockTimestampMilliseconds: ms })).toBe(
      'blockTimestamp is not a time: "x"',
    )
  },
)

test('accepts a block at second 0', () => {
  expect(timesOf({ blockTimestamp: 0, blockTimestampMilliseconds: 0 })).toEqual([0, 0, 0])
})
