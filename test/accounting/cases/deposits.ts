import {
  ANN,
  type Case,
  coins,
  FRIEND,
  POOL,
  REWARD,
  ROUTER,
  SHARE,
  sends,
  transact,
  USDC,
  WAVAX,
  WETH,
  whole,
  ZERO,
} from './case.ts'

/** Pools, wrapped coins, staking, claims and bridges. */
export const DEPOSITS: readonly Case[] = [
  {
    name: 'liquidity that is added to a pool',
    transaction: transact(
      [ANN, ROUTER],
      { method: 'addLiquidity(…)' },
      {
        erc20: [sends(USDC, [ANN, POOL], 100), sends(WETH, [ANN, POOL], 0.05), sends(SHARE, [ZERO, ANN], 2)],
      },
    ),
    koinly: ['Add to Pool -100.0 USDC', 'Add to Pool -0.05 WETH.e', '+2.0 NULL of LP-2a2a2a2a'],
    cointracking: [
      'Provide Liquidity -100 USDC',
      'Provide Liquidity -0.05 WETH.e',
      'Receive LP Token +2 LP-2a2a2a2a',
    ],
    rotki: ['Withdrawal 100 erc20:USDC', 'Withdrawal 0.05 erc20:WETH.e', 'Deposit 2 erc20:LP-2a2a2a2a'],
    hledger: [
      'Ann -100 USDC, equity:external:out 100 USDC',
      'Ann -0.05 WETH.e, equity:external:out 0.05 WETH.e',
      'Ann 2 LP-2a2a2a2a, equity:mint -2 LP-2a2a2a2a',
    ],
    rp2: ['out SELL 100 USDC', 'out SELL 0.05 WETH.e', 'in BUY 2 LP-2a2a2a2a'],
  },
  {
    name: 'liquidity that is added with coins, of which the pool returns some',
    transaction: transact(
      [ANN, ROUTER],
      { value: whole(2), method: 'addLiquidityETH(…)' },
      {
        erc20: [sends(USDC, [ANN, POOL], 50), sends(SHARE, [ZERO, ANN], 1)],
        internal: [coins([ROUTER, ANN], whole(0.1))],
      },
    ),
    koinly: ['Add to Pool -1.9 AVAX', 'Add to Pool -50.0 USDC', '+1.0 NULL of LP-2a2a2a2a'],
    cointracking: [
      'Provide Liquidity -1.9 AVAX',
      'Provide Liquidity -50 USDC',
      'Receive LP Token +1 LP-2a2a2a2a',
    ],
    rotki: ['Withdrawal 1.9 AVAX', 'Withdrawal 50 erc20:USDC', 'Deposit 1 erc20:LP-2a2a2a2a'],
    hledger: [
      'Ann -1.9 AVAX, equity:external:out 1.9 AVAX',
      'Ann -50 USDC, equity:external:out 50 USDC',
      'Ann 1 LP-2a2a2a2a, equity:mint -1 LP-2a2a2a2a',
    ],
    rp2: ['out SELL 1.9 AVAX', 'out SELL 50 USDC', 'in BUY 1 LP-2a2a2a2a'],
  },
  {
    name: 'liquidity that is removed from a pool',
    transaction: transact(
      [ANN, ROUTER],
      { method: 'removeLiquidity(…)' },
      {
        erc20: [sends(SHARE, [ANN, ZERO], 1), sends(USDC, [POOL, ANN], 51), sends(WETH, [POOL, ANN], 0.024)],
      },
    ),
    koinly: ['-1.0 NULL of LP-2a2a2a2a', 'Remove from Pool +51.0 USDC', 'Remove from Pool +0.024 WETH.e'],
    cointracking: [
      'Return LP Token -1 LP-2a2a2a2a',
      'Remove Liquidity +51 USDC',
      'Remove Liquidity +0.024 WETH.e',
    ],
    rotki: ['Withdrawal 1 erc20:LP-2a2a2a2a', 'Deposit 51 erc20:USDC', 'Deposit 0.024 erc20:WETH.e'],
    hledger: [
      'Ann -1 LP-2a2a2a2a, equity:burn 1 LP-2a2a2a2a',
      'Ann 51 USDC, equity:external:in -51 USDC',
      'Ann 0.024 WETH.e, equity:external:in -0.024 WETH.e',
    ],
    rp2: ['out SELL 1 LP-2a2a2a2a', 'in BUY 51 USDC', 'in BUY 0.024 WETH.e'],
  },
  {
    name: 'coins that are wrapped by a call',
    transaction: transact([ANN, WAVAX.address], { value: whole(3), method: 'deposit()' }),
    koinly: ['swap -3.0 AVAX +3.0 WAVAX'],
    cointracking: ['Swap (non taxable) -3 AVAX +3 WAVAX'],
    rotki: ['Withdrawal 3 AVAX', 'Deposit 3 erc20:WAVAX'],
    hledger: ['Ann -3 AVAX, Ann 3 WAVAX @@ 3 AVAX'],
    rp2: ['out SELL 3 AVAX', 'in BUY 3 WAVAX'],
  },
  {
    name: 'coins that are wrapped by sending them to the contract',
    transaction: transact([ANN, WAVAX.address], { value: whole(1), callType: 'NATIVE_TRANSFER' }),
    koinly: ['swap -1.0 AVAX +1.0 WAVAX'],
    cointracking: ['Swap (non taxable) -1 AVAX +1 WAVAX'],
    rotki: ['Withdrawal 1 AVAX', 'Deposit 1 erc20:WAVAX'],
    hledger: ['Ann -1 AVAX, Ann 1 WAVAX @@ 1 AVAX'],
    rp2: ['out SELL 1 AVAX', 'in BUY 1 WAVAX'],
  },
  {
    name: 'coins that are unwrapped',
    transaction: transact(
      [ANN, WAVAX.address],
      { method: 'withdraw(uint256)', methodHash: '0x2e1a7d4d' },
      {
        internal: [coins([WAVAX.address, ANN], whole(2))],
      },
    ),
    koinly: ['swap -2.0 WAVAX +2.0 AVAX'],
    cointracking: ['Swap (non taxable) -2 WAVAX +2 AVAX'],
    rotki: ['Withdrawal 2 erc20:WAVAX', 'Deposit 2 AVAX'],
    hledger: ['Ann -2 WAVAX, Ann 2 AVAX @@ 2 WAVAX'],
    rp2: ['out SELL 2 WAVAX', 'in BUY 2 AVAX'],
  },
  {
    name: 'coins that are staked',
    transaction: transact([ANN, POOL], { value: whole(10), method: 'stake()' }),
    koinly: ['-10.0 AVAX'],
    cointracking: ['Withdrawal -10 AVAX'],
    rotki: ['Withdrawal 10 AVAX'],
    hledger: ['Ann -10 AVAX, equity:external:out 10 AVAX'],
    rp2: ['out SELL 10 AVAX'],
  },
  {
    name: 'a claim with a fee, which buys nothing',
    transaction: transact(
      [ANN, POOL],
      { value: whole(0.01), method: 'claim()' },
      {
        erc20: [sends(REWARD, [POOL, ANN], 5)],
      },
    ),
    koinly: ['-0.01 AVAX', '+5.0 NULL of REW-2b2b2b2b'],
    cointracking: ['Withdrawal -0.01 AVAX', 'Deposit +5 REW-2b2b2b2b'],
    rotki: ['Withdrawal 0.01 AVAX', 'Deposit 5 erc20:REW-2b2b2b2b'],
    hledger: [
      'Ann -0.01 AVAX, equity:external:out 0.01 AVAX',
      'Ann 5 REW-2b2b2b2b, equity:external:in -5 REW-2b2b2b2b',
    ],
    rp2: ['out SELL 0.01 AVAX', 'in BUY 5 REW-2b2b2b2b'],
  },
  {
    name: 'a token that leaves over a bridge, with a fee in coins',
    transaction: transact(
      [ANN, POOL],
      { value: whole(0.02), method: 'bridge(…)' },
      {
        erc20: [sends(USDC, [ANN, POOL], 20)],
      },
    ),
    koinly: ['-0.02 AVAX', '-20.0 USDC'],
    cointracking: ['Withdrawal -0.02 AVAX', 'Withdrawal -20 USDC'],
    rotki: ['Withdrawal 0.02 AVAX', 'Withdrawal 20 erc20:USDC'],
    hledger: ['Ann -0.02 AVAX, equity:external:out 0.02 AVAX', 'Ann -20 USDC, equity:external:out 20 USDC'],
    rp2: ['out SELL 0.02 AVAX', 'out SELL 20 USDC'],
  },
  {
    name: 'a token that arrives over a bridge',
    transaction: transact([FRIEND, POOL], { method: 'mint(…)' }, { erc20: [sends(WETH, [ZERO, ANN], 0.3)] }),
    paysFee: false,
    koinly: ['+0.3 WETH.e'],
    cointracking: ['Deposit +0.3 WETH.e'],
    rotki: ['Deposit 0.3 erc20:WETH.e'],
    hledger: ['Ann 0.3 WETH.e, equity:mint -0.3 WETH.e'],
    rp2: ['in BUY 0.3 WETH.e'],
  },
]
