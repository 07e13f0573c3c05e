import {
  ANN,
  BTC,
  type Case,
  coins,
  FRIEND,
  MARKET,
  nft,
  ROUTER,
  sends,
  transact,
  USDC,
  USDT,
  WETH,
  whole,
} from './case.ts'

/** Trades, and transactions that look like them. */
export const TRADES: readonly Case[] = [
  {
    name: 'a swap',
    transaction: transact(
      [ANN, ROUTER],
      { method: 'swapExactTokensForTokens(…)' },
      {
        erc20: [sends(USDC, [ANN, ROUTER], 500), sends(WETH, [ROUTER, ANN], 0.25)],
      },
    ),
    koinly: ['-500.0 USDC +0.25 WETH.e'],
    cointracking: ['Trade -500 USDC +0.25 WETH.e'],
    rotki: ['trade -500 erc20:USDC +0.25 erc20:WETH.e'],
    hledger: ['Ann -500 USDC, Ann 0.25 WETH.e @@ 500 USDC'],
    rp2: ['out SELL 500 USDC', 'in BUY 0.25 WETH.e'],
  },
  {
    name: 'a swap with a refund of coins',
    transaction: transact(
      [ANN, ROUTER],
      { value: whole(2), method: 'swapETHForExactTokens(…)' },
      {
        erc20: [sends(USDC, [ROUTER, ANN], 60)],
        internal: [coins([ROUTER, ANN], whole(0.5))],
      },
    ),
    koinly: ['-1.5 AVAX +60.0 USDC'],
    cointracking: ['Trade -1.5 AVAX +60 USDC'],
    rotki: ['trade -1.5 AVAX +60 erc20:USDC'],
    hledger: ['Ann -1.5 AVAX, Ann 60 USDC @@ 1.5 AVAX'],
    rp2: ['out SELL 1.5 AVAX', 'in BUY 60 USDC'],
  },
  {
    name: 'a swap whose aggregator takes a fee from the amount sent',
    transaction: transact(
      [ANN, ROUTER],
      { method: 'swap(…)' },
      {
        erc20: [
          sends(USDC, [ANN, ROUTER], 99),
          sends(USDC, [ANN, MARKET], 1),
          sends(WETH, [ROUTER, ANN], 0.05),
        ],
      },
    ),
    koinly: ['-100.0 USDC +0.05 WETH.e'],
    cointracking: ['Trade -100 USDC +0.05 WETH.e'],
    rotki: ['trade -100 erc20:USDC +0.05 erc20:WETH.e'],
    hledger: ['Ann -100 USDC, Ann 0.05 WETH.e @@ 100 USDC'],
    rp2: ['out SELL 99 USDC', 'out SELL 1 USDC', 'in BUY 0.05 WETH.e'],
  },
  {
    name: 'a gasless swap, which a relayer sends and pays',
    transaction: transact(
      [FRIEND, ROUTER],
      { method: 'fillOrder(…)' },
      {
        erc20: [sends(USDT, [ANN, ROUTER], 40), sends(USDC, [ROUTER, ANN], 39.9)],
      },
    ),
    paysFee: false,
    koinly: ['-40.0 USDT +39.9 USDC'],
    cointracking: ['Trade -40 USDT +39.9 USDC'],
    rotki: ['trade -40 erc20:USDT +39.9 erc20:USDC'],
    hledger: ['Ann -40 USDT, Ann 39.9 USDC @@ 40 USDT'],
    rp2: ['out SELL 40 USDT', 'in BUY 39.9 USDC'],
  },
  {
    name: 'a failed swap',
    transaction: transact([ANN, ROUTER], {
      value: whole(2),
      failed: true,
      method: 'swapETHForExactTokens(…)',
    }),
    koinly: [],
    cointracking: [],
    rotki: [],
    hledger: [],
    rp2: [],
  },
  {
    name: 'a batch of two swaps, of which nobody can tell what was paid for what',
    transaction: transact(
      [ANN, ROUTER],
      { method: 'multicall(bytes[])' },
      {
        erc20: [
          sends(USDC, [ANN, ROUTER], 10),
          sends(WETH, [ROUTER, ANN], 0.005),
          sends(USDT, [ANN, ROUTER], 20),
          sends(BTC, [ROUTER, ANN], 0.0005),
        ],
      },
    ),
    koinly: ['-10.0 USDC', '+0.005 WETH.e', '-20.0 USDT', '+0.0005 BTC.b'],
    cointracking: [
      'Withdrawal -10 USDC',
      'Deposit +0.005 WETH.e',
      'Withdrawal -20 USDT',
      'Deposit +0.0005 BTC.b',
    ],
    rotki: [
      'Withdrawal 10 erc20:USDC',
      'Deposit 0.005 erc20:WETH.e',
      'Withdrawal 20 erc20:USDT',
      'Deposit 0.0005 erc20:BTC.b',
    ],
    hledger: [
      'Ann -10 USDC, equity:external:out 10 USDC',
      'Ann 0.005 WETH.e, equity:external:in -0.005 WETH.e',
      'Ann -20 USDT, equity:external:out 20 USDT',
      'Ann 0.0005 BTC.b, equity:external:in -0.0005 BTC.b',
    ],
    rp2: ['out SELL 10 USDC', 'in BUY 0.005 WETH.e', 'out SELL 20 USDT', 'in BUY 0.0005 BTC.b'],
  },
  {
    name: 'an NFT that is bought for coins, of which rp2 gets the payment only',
    transaction: transact(
      [ANN, MARKET],
      { value: whole(1), method: 'fulfillOrder(…)' },
      {
        erc721: [nft('721', [FRIEND, ANN], { id: '1' })],
      },
    ),
    koinly: ['-1.0 AVAX +1.0 NFT of APE-77777777#1'],
    cointracking: ['Trade -1 AVAX +1 APE-77777777#1'],
    rotki: ['trade -1 AVAX +1 erc721:APE-77777777#1'],
    hledger: ['Ann -1 AVAX, Ann 1 APE-77777777#1 @@ 1 AVAX'],
    rp2: ['out SELL 1 AVAX'],
  },
  {
    name: 'an NFT that is sold for WETH, less the fee of the marketplace',
    transaction: transact(
      [FRIEND, MARKET],
      { method: 'fulfillOrder(…)' },
      {
        erc20: [sends(WETH, [FRIEND, ANN], 0.1), sends(WETH, [ANN, MARKET], 0.0025)],
        erc721: [nft('721', [ANN, FRIEND], { id: '1' })],
      },
    ),
    paysFee: false,
    koinly: ['-1.0 NFT of APE-77777777#1 +0.0975 WETH.e'],
    cointracking: ['Trade -1 APE-77777777#1 +0.0975 WETH.e'],
    rotki: ['trade -1 erc721:APE-77777777#1 +0.0975 erc20:WETH.e'],
    hledger: ['Ann -1 APE-77777777#1, Ann 0.0975 WETH.e @@ 1 APE-77777777#1'],
    rp2: ['in BUY 0.0975 WETH.e'],
  },
]
