import { expect, test } from 'vitest'
import { programTypes } from '../../src/accounting/csv/preset.ts'
import { importRowsOf, type PoolMove, poolMovesOf } from '../../src/accounting/import-rows.ts'
import type { Movement } from '../../src/accounting/movement.ts'
import { cointracking } from '../../src/accounting/presets/cointracking.ts'
import { cryptotaxcalculator } from '../../src/accounting/presets/cryptotaxcalculator.ts'
import { generic } from '../../src/accounting/presets/generic.ts'
import { koinly } from '../../src/accounting/presets/koinly.ts'
import { COIN, movement, nft, token } from './made-up.ts'

const [USDC, WETH, SHARE, REWARD] = [token('USDC'), token('WETH', 18), token('LP', 18), token('REWARD', 18)]
const fee = movement({ asset: COIN, value: 21n, type: 'fee', counterparty: null })
const out = (asset: Movement['asset'], type: Movement['type'] = 'transfer') =>
  movement({ asset, value: 5n, type })
const into = (asset: Movement['asset'], type: Movement['type'] = 'transfer') => ({
  ...out(asset, type),
  isOut: false,
})

/** The pool moves by the symbol of the asset; the movements are those of a call of the method. */
function moves(method: string, ...movements: Movement[]): string[] {
  const called = movements.map((one) => ({ ...one, method }))
  const found = poolMovesOf(called)
  return called.map((one) => `${one.asset.symbol} ${found.get(one) ?? '-'}`)
}

test.for(['addLiquidity(address,address)', 'add_liquidity(uint256[2],uint256)', 'addLiquidityETH(address)'])(
  '%s adds what was sent, and receives a share that is minted or transferred',
  (method) => {
    for (const type of ['mint', 'transfer'] as const)
      expect(moves(method, fee, out(USDC), out(WETH), into(SHARE, type))).toEqual([
        'AVAX -',
        'USDC add',
        'WETH add',
        'LP receiveShare',
      ])
  },
)

test.for([
  'removeLiquidity(address,address)',
  'remove_liquidity(uint256)',
  'removeLiquidityETHWithPermit(…)',
])('%s returns a share that is burned or transferred, and removes what was received', (method) => {
  for (const type of ['burn', 'transfer'] as const)
    expect(moves(method, out(SHARE, type), into(USDC), into(COIN))).toEqual([
      'LP returnShare',
      'USDC remove',
      'AVAX remove',
    ])
})

test.for(['deposit(uint256,address)', 'depositETH(address)', 'stake(uint256)', 'supply(address,uint256)'])(
  '%s adds what was sent if it mints a share',
  (method) => {
    expect(moves(method, out(USDC), into(SHARE, 'mint'))).toEqual(['USDC add', 'LP receiveShare'])
    expect(moves(method, out(USDC), into(SHARE))).toEqual(['USDC -', 'LP -'])
    expect(moves(method, out(USDC))).toEqual(['USDC -'])
  },
)

test.for(['withdraw(uint256)', 'redeem(uint256,address,address)', 'redeemUnderlying(uint256)', 'unstake()'])(
  '%s removes what was received if it burns a share',
  (method) => {
    expect(moves(method, out(SHARE, 'burn'), into(USDC))).toEqual(['LP returnShare', 'USDC remove'])
    expect(moves(method, out(SHARE), into(USDC))).toEqual(['LP -', 'USDC -'])
    expect(moves(method, out(SHARE, 'burn'))).toEqual(['LP -'])
  },
)

test('a share can be an NFT', () => {
  expect(moves('deposit(uint256)', out(COIN), into(nft('LOCK', '7'), 'mint'))).toEqual([
    'AVAX add',
    'LOCK receiveShare',
  ])
})

test('a refund reverses the move of its asset', () => {
  expect(moves('addLiquidityETH(…)', out(COIN), out(USDC), into(COIN), into(SHARE, 'mint'))).toEqual([
    'AVAX add',
    'USDC add',
    'AVAX remove',
    'LP receiveShare',
  ])
  expect(moves('removeLiquidity(…)', out(SHARE), into(SHARE), into(USDC))).toEqual([
    'LP returnShare',
    'LP receiveShare',
    'USDC remove',
  ])
})

test('rewards of a deposit, and interest that is minted in a withdrawal, are no pool moves', () => {
  expect(moves('deposit(uint256)', out(USDC), into(REWARD), into(SHARE, 'mint'))).toEqual([
    'USDC add',
    'REWARD -',
    'LP receiveShare',
  ])
  expect(moves('withdraw(uint256)', out(SHARE, 'burn'), into(REWARD, 'mint'), into(USDC))).toEqual([
    'LP returnShare',
    'REWARD -',
    'USDC remove',
  ])
})

test.for([
  { what: 'another method', method: 'swap(uint256)', given: out(USDC) },
  { what: 'a method that only contains the word', method: 'claimAndDeposit()', given: out(USDC) },
  { what: 'an own transfer', method: 'deposit()', given: { ...out(USDC), isOwn: true } },
  { what: 'wrapped coins', method: 'deposit()', given: out(USDC, 'unwrap') },
])('there are no pool moves in $what', ({ method, given }) => {
  expect(moves(method, given, into(SHARE, 'mint'))).toEqual(['USDC -', 'LP -'])
})

const DEPOSIT = [out(USDC), into(SHARE, 'mint')].map((one) => ({ ...one, method: 'deposit()' }))

test('the rows of pool moves are not paired, and state the move', () => {
  const rows = importRowsOf(DEPOSIT, ({ hasShare }) => !hasShare)
  expect(rows.map(({ kind, poolMove }) => [kind, poolMove])).toEqual([
    ['out', 'add'],
    ['in', 'receiveShare'],
  ])
})

const SIDES: Record<PoolMove, string> = { add: 'out', returnShare: 'out', remove: 'in', receiveShare: 'in' }

test.for([koinly, cointracking, cryptotaxcalculator, generic])(
  'labels may assign the types of pool moves in $name to amounts of their direction',
  (preset) => {
    const { sides } = programTypes([preset])
    const moved = Object.entries(preset.types.pool ?? {}) as [PoolMove, string][]
    expect(moved.length).toBeGreaterThan(1)
    for (const [move, type] of moved) expect([move, ...(sides.get(type) ?? [])]).toEqual([move, SIDES[move]])
  },
)
