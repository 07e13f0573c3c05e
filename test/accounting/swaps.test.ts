import { expect, test } from 'vitest'
import { importRowsOf } from '../../src/accounting/import-rows.ts'
import type { Movement } from '../../src/accounting/movement.ts'
import { COIN, movement, nft, token } from './made-up.ts'

const [USDC, WETH] = [token('USDC'), token('WETH', 18)]
const fee = movement({ asset: COIN, value: 21n, type: 'fee', counterparty: null })
const gone = movement({ asset: USDC, value: 500n })
const came = movement({ asset: WETH, value: 7n, isOut: false })

const pair = (...movements: Movement[]) => importRowsOf(movements, true)
const kinds = (...movements: Movement[]) => pair(...movements).map(({ kind }) => kind)

test('one asset out and one in are one line, the fee another', () => {
  const [first, second] = pair(fee, gone, came)
  expect(first).toMatchObject({ kind: 'fee', out: { asset: COIN, value: 21n } })
  expect(second).toMatchObject({
    kind: 'swap',
    out: { asset: USDC, value: 500n },
    in: { asset: WETH, value: 7n },
  })
  expect(second?.movements).toEqual([gone, came])
})

test('what came back of the asset that went out is taken off', () => {
  const sold = movement({ asset: COIN, value: 100n })
  const refund = movement({ asset: COIN, value: 30n, isOut: false })
  expect(pair(sold, refund, came)[0]).toMatchObject({ kind: 'swap', out: { value: 70n }, in: { value: 7n } })
})

test.for([
  {
    what: 'an NFT is bought',
    movements: [gone, movement({ asset: nft('APE', '7'), value: 1n, isOut: false })],
  },
  { what: 'what comes in is minted', movements: [gone, { ...came, type: 'mint' as const }] },
  { what: 'what goes out is burned', movements: [{ ...gone, type: 'burn' as const }, came] },
  { what: 'the other party is an own wallet', movements: [{ ...gone, isOwn: true }, came] },
  { what: 'a wallet sends to itself', movements: [{ ...gone, type: 'self' as const, isOwn: true }, came] },
  { what: 'two assets come in', movements: [gone, came, movement({ asset: COIN, value: 1n, isOut: false })] },
  { what: 'nothing comes in', movements: [gone] },
  { what: 'both go out', movements: [gone, { ...came, isOut: true }] },
  { what: 'all of it comes back', movements: [gone, { ...gone, isOut: false }] },
])('is no swap where $what', ({ movements }) => {
  expect(kinds(...movements)).not.toContain('swap')
  expect(kinds(...movements)).toHaveLength(movements.length)
})

test('swaps stay apart where they are to', () => {
  const lines = importRowsOf([gone, came], false)
  expect(lines.map(({ kind }) => kind)).toEqual(['out', 'in'])
})
