import { expect, test } from 'vitest'
import { importRowsOf } from '../../src/accounting/import-rows.ts'
import type { Movement } from '../../src/accounting/movement.ts'
import { COIN, movement, nft, token } from './made-up.ts'

const [USDC, WETH] = [token('USDC'), token('WETH', 18)]
const fee = movement({ asset: COIN, value: 21n, type: 'fee', counterparty: null })
const sent = movement({ asset: USDC, value: 500n })
const received = movement({ asset: WETH, value: 7n, isOut: false })

const pair = (...movements: Movement[]) => importRowsOf(movements, () => true)
const kinds = (...movements: Movement[]) => pair(...movements).map(({ kind }) => kind)

test('pairs one sent and one received asset into one row, next to the row of the fee', () => {
  const [first, second] = pair(fee, sent, received)
  expect(first).toMatchObject({ kind: 'fee', out: { asset: COIN, value: 21n } })
  expect(second).toMatchObject({
    kind: 'swap',
    out: { asset: USDC, value: 500n },
    in: { asset: WETH, value: 7n },
  })
  expect(second?.movements).toEqual([sent, received])
})

test('subtracts a refund from the sent amount', () => {
  const sold = movement({ asset: COIN, value: 100n })
  const refund = movement({ asset: COIN, value: 30n, isOut: false })
  expect(pair(sold, refund, received)[0]).toMatchObject({
    kind: 'swap',
    out: { value: 70n },
    in: { value: 7n },
  })
})

const ape = (tokenId: string) => movement({ asset: nft('APE', tokenId), value: 1n, isOut: false })

test('pairs an NFT with the coins that a seller and a marketplace received for it', () => {
  const price = movement({ asset: COIN, value: 90n })
  expect(pair(price, movement({ asset: COIN, value: 10n }), ape('7'))).toMatchObject([
    { kind: 'swap', out: { asset: COIN, value: 100n }, in: { asset: { tokenId: '7' }, value: 1n } },
  ])
})

test('pairs the sale of an NFT for a token, several units of one ERC-1155 token, and one NFT with another', () => {
  const units = movement({ asset: { ...nft('ITEM', '1'), type: 'erc1155' }, value: 5n })
  for (const given of [{ ...ape('7'), isOut: true }, units])
    expect(pair(given, received)).toMatchObject([{ kind: 'swap', out: { value: given.value } }])
  expect(pair({ ...ape('7'), isOut: true }, ape('8'))).toMatchObject([
    { kind: 'swap', out: { asset: { tokenId: '7' } }, in: { asset: { tokenId: '8' } } },
  ])
})

test.for([
  {
    what: 'two NFTs are bought for one payment',
    movements: [sent, ape('7'), ape('8')],
  },
  {
    what: 'two NFTs are sold for one payment',
    movements: [{ ...ape('7'), isOut: true }, { ...ape('8'), isOut: true }, received],
  },
  { what: 'an NFT is minted', movements: [sent, { ...ape('7'), type: 'mint' as const }] },
  { what: 'the received asset is minted', movements: [sent, { ...received, type: 'mint' as const }] },
  { what: 'the sent asset is burned', movements: [{ ...sent, type: 'burn' as const }, received] },
  { what: 'the counterparty is an own wallet', movements: [{ ...sent, isOwn: true }, received] },
  {
    what: 'a wallet sends to itself',
    movements: [{ ...sent, type: 'self' as const, isOwn: true }, received],
  },
  {
    what: 'two assets are received',
    movements: [sent, received, movement({ asset: COIN, value: 1n, isOut: false })],
  },
  { what: 'nothing is received', movements: [sent] },
  { what: 'both assets are sent', movements: [sent, { ...received, isOut: true }] },
  { what: 'the whole amount is refunded', movements: [sent, { ...sent, isOut: false }] },
])('pairs nothing if $what', ({ movements }) => {
  expect(kinds(...movements)).not.toContain('swap')
  expect(kinds(...movements)).toHaveLength(movements.length)
})

test('keeps swaps as separate rows if pairing is off', () => {
  const rows = importRowsOf([sent, received])
  expect(rows.map(({ kind }) => kind)).toEqual(['out', 'in'])
})
