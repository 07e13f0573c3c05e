import { expect, test } from 'vitest'
import type { Preset } from '../../src/accounting/csv/preset.ts'
import { Remainders } from '../../src/accounting/csv/remainders.ts'
import { createRowWriter } from '../../src/accounting/csv/row-writer.ts'
import { acceptsSwapIn, importRowsOf } from '../../src/accounting/import-rows.ts'
import type { Movement } from '../../src/accounting/movement.ts'
import { bittytax } from '../../src/accounting/presets/bittytax.ts'
import { cointracking } from '../../src/accounting/presets/cointracking.ts'
import { generic } from '../../src/accounting/presets/generic.ts'
import { koinly } from '../../src/accounting/presets/koinly.ts'
import { COIN, movement, nft, token } from './made-up.ts'

const [USDC, WETH] = [token('USDC'), token('WETH', 18)]
const fee = movement({ asset: COIN, value: 21n, type: 'fee', counterparty: null })
const sent = movement({ asset: USDC, value: 500n })
const received = movement({ asset: WETH, value: 7n, isOut: false })

const pair = (...movements: Movement[]) =>
  importRowsOf(
    movements,
    acceptsSwapIn('pair', () => true),
  )
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

const minted = (method: string): Movement => ({ ...ape('7'), type: 'mint', method })
const paid = movement({ asset: COIN, value: 9n })

test.for(['mint(uint256)', 'publicMint', 'buyTokens()', 'register(string,address,uint256)'])(
  'pairs an NFT that %s mints with the coins paid for it',
  (method) => {
    expect(pair(paid, minted(method))).toMatchObject([
      { kind: 'swap', out: { asset: COIN, value: 9n }, in: { asset: { tokenId: '7' } } },
    ])
  },
)

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
  { what: 'an NFT is minted for tokens', movements: [sent, minted('mint(uint256)')] },
  { what: 'another method mints an NFT for coins', movements: [paid, minted('createLock(uint256)')] },
  ...[
    'claimRewards(address)',
    'batchClaim',
    'harvest()',
    'getAllRewards()',
    'withdraw_rewards',
    'withdrawAndHarvest',
  ].map((method) => ({
    what: `${method} has a fee`,
    movements: [paid, received].map((one) => ({ ...one, method })),
  })),
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

const pairAll = (...movements: Movement[]) =>
  importRowsOf(
    movements,
    acceptsSwapIn('all', () => true),
  )

test('with all, pairs what is minted, burned or a pool share, but no claims and own transfers', () => {
  const share: Movement = { ...received, type: 'mint' }
  for (const movements of [
    [sent, share],
    [{ ...sent, type: 'burn' as const }, received],
    [sent, minted('mint(uint256)')],
    [sent, received].map((one) => ({ ...one, method: 'removeLiquidityOneCoin(uint256)' })),
  ]) {
    expect(kinds(...movements)).not.toContain('swap')
    expect(pairAll(...movements).map(({ kind }) => kind)).toEqual(['swap'])
  }
  for (const change of [{ method: 'claim()' }, { isOwn: true }])
    expect(pairAll(sent, { ...share, ...change })).toHaveLength(2)
})

test('no swap is paired if the format cannot hold it, or with off', () => {
  expect(acceptsSwapIn('off', () => true)).toBeUndefined()
  const rows = importRowsOf(
    [sent, received],
    acceptsSwapIn('all', () => false),
  )
  expect(rows).toHaveLength(2)
})

const WAVAX = token('WAVAX', 18)
const coinOut = movement({ asset: COIN, value: 5n, counterparty: WAVAX.address, source: 'transactions' })
const wrapped: Movement = { ...coinOut, entry: 'wrapped', asset: WAVAX, type: 'wrap', isOut: false }
const unwrapped: Movement = { ...wrapped, entry: 'unwrapped', type: 'unwrap', isOut: true }
const coinIn: Movement = { ...coinOut, isOut: false }

test('pairs the coin of a wrap with its token, and the token of an unwrap with its coin', () => {
  expect(pair(fee, coinOut, wrapped)).toMatchObject([
    { kind: 'fee' },
    { kind: 'swap', isWrap: true, out: { asset: COIN, value: 5n }, in: { asset: WAVAX, value: 5n } },
  ])
  expect(pair(unwrapped, coinIn)).toMatchObject([
    { kind: 'swap', isWrap: true, out: { asset: WAVAX }, in: { asset: COIN } },
  ])
})

test('pairs a swap in the transaction of a wrap separately, whether or not the wrap is one row', () => {
  const sold = movement({ asset: WAVAX, value: 5n })
  const bought = movement({ asset: USDC, value: 9n, isOut: false })
  const movements = [coinOut, wrapped, sold, bought]
  expect(pair(...movements).map(({ isWrap }) => isWrap)).toEqual([true, false])
  const rows = importRowsOf(movements, ({ isWrap }) => !isWrap)
  expect(rows.map(({ kind }) => kind)).toEqual(['out', 'in', 'swap'])
})

const ARBITRUM = { chain: '42161', method: 'deposit()' }
const ARBITRUM_WETH = { ...token('WETH', 18), address: '0x82af49447d8a07e3bd95bd0d56f35241523fbab1' }
const weth = { asset: ARBITRUM_WETH, value: 5n, ...ARBITRUM }

test('pairs the coin of a wrap with the token that its contract mints, which is no share of a pool', () => {
  const coins = movement({ asset: COIN, value: 5n, counterparty: ARBITRUM_WETH.address, ...ARBITRUM })
  const mint = movement({ ...weth, type: 'mint', isOut: false })
  expect(pair(coins, mint)).toMatchObject([{ kind: 'swap', isWrap: true }])
  const burn = movement({ ...weth, type: 'burn', method: 'withdraw(uint256)' })
  expect(pair(burn, { ...coins, isOut: false })).toMatchObject([{ kind: 'swap', isWrap: true }])
  const unpaired = importRowsOf([coins, mint])
  expect(unpaired.map(({ kind, poolMove }) => [kind, poolMove])).toEqual([
    ['out', undefined],
    ['in', undefined],
  ])
})

test('treats the coin and the same amount of its wrapped token as a wrap, also through a router', () => {
  const coins = movement({ asset: COIN, value: 5n, ...ARBITRUM, method: 'multicall(bytes[])' })
  const token = movement({ ...weth, isOut: false })
  expect(pair(coins, token)).toMatchObject([{ kind: 'swap', isWrap: true, hasShare: false }])
  expect(pair(coins, { ...token, value: 4n })).toMatchObject([{ kind: 'swap', isWrap: false }])
  const impostor = { ...token, asset: { ...ARBITRUM_WETH, address: USDC.address } }
  expect(pair(coins, impostor)).toMatchObject([{ kind: 'swap', isWrap: false }])
})

test('pairs nothing with the token of a wrap whose coins are missing', () => {
  expect(kinds(wrapped, { ...coinOut, value: 6n })).toEqual(['in', 'out'])
})

test.for([
  { preset: cointracking, line: /^Swap \(non taxable\),0\.0{17}5,WAVAX-\w+,0\.0{17}5,AVAX,/ },
  { preset: koinly, line: /,swap,"?wrap \/ contract / },
  { preset: generic, line: /,wrap,0\.0{17}5,WAVAX-/ },
])('a wrap in a file for $preset.name is one line with a type without a sale', ({ preset, line }) => {
  const [row] = pair(coinOut, wrapped)
  expect(row && writerOf(preset).write(row)).toMatch(line)
})

test('a format without a type for wraps gets two lines', () => {
  expect(importRowsOf([coinOut, wrapped], writerOf(bittytax).canWrite).map(({ kind }) => kind)).toEqual([
    'out',
    'in',
  ])
  expect(importRowsOf([sent, received], writerOf(bittytax).canWrite)).toHaveLength(1)
})

const writerOf = (preset: Preset) =>
  createRowWriter({
    preset,
    chainName: undefined,
    placeholderOf: () => 'NULL1',
    walletNameOf: (address) => address,
    prices: undefined,
    coin: 'AVAX',
    refusalReasonOf: () => undefined,
    isPerWallet: false,
    remainders: new Remainders({}),
    onOmitted: () => {},
    onUnpriced: () => {},
  })

test('keeps swaps as separate rows if pairing is off', () => {
  const rows = importRowsOf([sent, received])
  expect(rows.map(({ kind }) => kind)).toEqual(['out', 'in'])
})
