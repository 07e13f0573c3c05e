import { erc20 } from '../../transform/items.ts'
import { ANN, BEN, coins } from '../made-up-transactions.ts'
import {
  BTC,
  type Case,
  FOO,
  FRIEND,
  MARKET,
  NEW_NAME,
  OLD_NAME,
  OTHER_FOO,
  POOL,
  SPAM,
  sends,
  TICKETS,
  transact,
  USDC,
  WETH,
  whole,
  YOCTO,
} from './case.ts'

/** Transfers, transactions that only cost a fee, and tokens with unusual metadata. */
export const TRANSFERS: readonly Case[] = [
  {
    name: 'an airdrop of spam',
    transaction: transact(
      [FRIEND, SPAM.address],
      { method: 'airdrop(…)' },
      {
        erc20: [sends(SPAM, [FRIEND, ANN], 1_000)],
      },
    ),
    paysFee: false,
    koinly: ['+1000.0 NULL of freeth.io-2c2c2c2c'],
    cointracking: ['Deposit +1000 freeth.io-2c2c2c2c'],
    rotki: ['Deposit 1000 erc20:freeth.io-2c2c2c2c'],
    hledger: ['Ann 1000 freeth.io-2c2c2c2c, equity:external:in -1000 freeth.io-2c2c2c2c'],
    rp2: ['in BUY 1000 freeth.io-2c2c2c2c'],
  },
  {
    name: 'an approval, which costs its fee only',
    transaction: transact([ANN, USDC.address], { method: 'approve(address,uint256)' }),
    koinly: [],
    cointracking: [],
    rotki: [],
    hledger: [],
    rp2: [],
  },
  {
    name: 'a contract that is created with coins',
    transaction: transact([ANN, POOL], { value: whole(0.1), callType: 'CONTRACT_CREATION' }),
    koinly: ['-0.1 AVAX'],
    cointracking: ['Withdrawal -0.1 AVAX'],
    rotki: ['Withdrawal 0.1 AVAX'],
    hledger: ['Ann -0.1 AVAX, equity:external:out 0.1 AVAX'],
    rp2: ['out SELL 0.1 AVAX'],
  },
  {
    name: 'coins that a multisend contract distributes',
    transaction: transact(
      [ANN, MARKET],
      { value: whole(3), method: 'disperseEther(address[],uint256[])' },
      {
        internal: [coins([MARKET, FRIEND], whole(1)), coins([MARKET, POOL], whole(2))],
      },
    ),
    koinly: ['-3.0 AVAX'],
    cointracking: ['Withdrawal -3 AVAX'],
    rotki: ['Withdrawal 3 AVAX'],
    hledger: ['Ann -3 AVAX, equity:external:out 3 AVAX'],
    rp2: ['out SELL 3 AVAX'],
  },
  {
    name: 'a transfer to the same wallet, which rp2 does not get',
    transaction: transact([ANN, ANN], { value: whole(4), callType: 'NATIVE_TRANSFER' }),
    koinly: ['-4.0 AVAX', '+4.0 AVAX'],
    cointracking: ['Withdrawal -4 AVAX', 'Deposit +4 AVAX'],
    rotki: ['Withdrawal 4 AVAX', 'Deposit 4 AVAX'],
    hledger: ['Ann -4 AVAX, equity:own transfers 4 AVAX', 'Ann 4 AVAX, equity:own transfers -4 AVAX'],
    rp2: [],
  },
  {
    name: 'a transfer to another wallet of the owner',
    transaction: transact([ANN, BEN], { value: whole(5), callType: 'NATIVE_TRANSFER' }),
    koinly: ['-5.0 AVAX', '+5.0 AVAX'],
    cointracking: ['Withdrawal -5 AVAX', 'Deposit +5 AVAX'],
    rotki: ['Withdrawal 5 AVAX', 'Deposit 5 AVAX'],
    hledger: ['Ann -5 AVAX, equity:own transfers 5 AVAX', 'Ben 5 AVAX, equity:own transfers -5 AVAX'],
    rp2: ['intra 5 AVAX, 5 AVAX'],
  },
  {
    name: 'equal amounts in one transaction, which Koinly would take for duplicates',
    transaction: transact(
      [FRIEND, USDC.address],
      { method: 'payout(…)' },
      {
        erc20: [7, 7].map((amount) => sends(USDC, [FRIEND, ANN], amount)),
      },
    ),
    paysFee: false,
    koinly: ['+14.0 USDC'],
    cointracking: ['Deposit +7 USDC', 'Deposit +7 USDC'],
    rotki: ['Deposit 7 erc20:USDC', 'Deposit 7 erc20:USDC'],
    hledger: ['Ann 7 USDC, equity:external:in -7 USDC', 'Ann 7 USDC, equity:external:in -7 USDC'],
    rp2: ['in BUY 7 USDC', 'in BUY 7 USDC'],
  },
  {
    name: 'tokens with 0, 6, 8, 18 and 24 decimals',
    transaction: transact(
      [FRIEND, MARKET],
      { method: 'send(…)' },
      {
        erc20: [
          erc20(TICKETS, [FRIEND, ANN], 7n),
          erc20(USDC, [FRIEND, ANN], 1_234_567n),
          erc20(BTC, [FRIEND, ANN], 12_345_678n),
          erc20(WETH, [FRIEND, ANN], 123_456_789_012_345_678n),
          erc20(YOCTO, [FRIEND, ANN], 1_123_456_789_012_345_678_901_234n),
        ],
      },
    ),
    paysFee: false,
    koinly: [
      '+7.0 NULL of TIX-2d2d2d2d',
      '+1.234567 USDC',
      '+0.12345678 BTC.b',
      '+0.123456789012345678 WETH.e',
      '+1.123456789012345678901234 NULL of YOC-2e2e2e2e',
    ],
    cointracking: [
      'Deposit +7 TIX-2d2d2d2d',
      'Deposit +1.234567 USDC',
      'Deposit +0.12345678 BTC.b',
      'Deposit +0.123456789012345678 WETH.e',
      'Deposit +1.123456789012345678901234 YOC-2e2e2e2e',
    ],
    rotki: [
      'Deposit 7 erc20:TIX-2d2d2d2d',
      'Deposit 1.234567 erc20:USDC',
      'Deposit 0.12345678 erc20:BTC.b',
      'Deposit 0.123456789012345678 erc20:WETH.e',
      'Deposit 1.123456789012345678901234 erc20:YOC-2e2e2e2e',
    ],
    hledger: [
      'Ann 7 TIX-2d2d2d2d, equity:external:in -7 TIX-2d2d2d2d',
      'Ann 1.234567 USDC, equity:external:in -1.234567 USDC',
      'Ann 0.12345678 BTC.b, equity:external:in -0.12345678 BTC.b',
      'Ann 0.123456789012345678 WETH.e, equity:external:in -0.123456789012345678 WETH.e',
      'Ann 1.123456789012345678901234 YOC-2e2e2e2e, equity:external:in -1.123456789012345678901234 YOC-2e2e2e2e',
    ],
    rp2: [
      'in BUY 7 TIX-2d2d2d2d',
      'in BUY 1.234567 USDC',
      'in BUY 0.12345678 BTC.b',
      'in BUY 0.12345678901 WETH.e',
      'in BUY 1.12345678901 YOC-2e2e2e2e',
    ],
  },
  {
    name: 'two tokens with the same symbol',
    transaction: transact(
      [FRIEND, MARKET],
      { method: 'send(…)' },
      {
        erc20: [sends(FOO, [FRIEND, ANN], 1), sends(OTHER_FOO, [FRIEND, ANN], 2)],
      },
    ),
    paysFee: false,
    koinly: ['+1.0 NULL of FOO-3a3a3a3a', '+2.0 NULL of FOO-3b3b3b3b'],
    cointracking: ['Deposit +1 FOO-3a3a3a3a', 'Deposit +2 FOO-3b3b3b3b'],
    rotki: ['Deposit 1 erc20:FOO-3a3a3a3a', 'Deposit 2 erc20:FOO-3b3b3b3b'],
    hledger: [
      'Ann 1 FOO-3a3a3a3a, equity:external:in -1 FOO-3a3a3a3a',
      'Ann 2 FOO-3b3b3b3b, equity:external:in -2 FOO-3b3b3b3b',
    ],
    rp2: ['in BUY 1 FOO-3a3a3a3a', 'in BUY 2 FOO-3b3b3b3b'],
  },
  ...renamed(OLD_NAME, 'a token before it is renamed'),
  ...renamed(NEW_NAME, 'a token after it was renamed, which stays the same asset'),
]

function renamed(token: typeof OLD_NAME, name: string): Case[] {
  return [
    {
      name,
      transaction: transact(
        [FRIEND, MARKET],
        { method: 'send(…)' },
        { erc20: [sends(token, [FRIEND, ANN], 1)] },
      ),
      paysFee: false,
      koinly: ['+1.0 NULL of OLD-3c3c3c3c'],
      cointracking: ['Deposit +1 OLD-3c3c3c3c'],
      rotki: ['Deposit 1 erc20:OLD-3c3c3c3c'],
      hledger: ['Ann 1 OLD-3c3c3c3c, equity:external:in -1 OLD-3c3c3c3c'],
      rp2: ['in BUY 1 OLD-3c3c3c3c'],
    },
  ]
}
