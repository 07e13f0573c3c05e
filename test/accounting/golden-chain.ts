import type { JsonObject } from '../../src/demo-server/json.ts'
import { ANN, address, BEN, coins, createChain } from './made-up-transactions.ts'

export { WALLETS } from './made-up-transactions.ts'

const { transaction, erc20, nft } = createChain()

const [ROUTER, VAULT, FRIEND, MARKET, ZERO] = ['1', '2', '3', '9', '0'].map(address) as Addresses
const USDC = { address: address('c'), name: 'USD Coin', symbol: 'USDC', decimals: 6 }
const WETH = { address: address('d'), name: 'Wrapped Ether', symbol: 'WETH.e', decimals: 18 }
const SHARE = { address: address('e'), name: 'Vault share', symbol: 'vUSDC', decimals: 6 }
const SPAM = { address: address('4'), name: 'Visit freeth.io to claim', symbol: 'USD\u0422' }
const LONG = { address: address('5'), name: 'Long', symbol: 'LONG', decimals: 255 }
const NAMELESS = { address: address('6') }
const DOLLARS = 1_000_000n
const ETHER = 10n ** 18n

type Addresses = [string, string, string, string, string]

const SWAP = 'swapExactTokensForTokens(uint256,uint256,address[],address,uint256)'

/** Cases that formats treat differently: swaps and transactions that resemble them, NFTs, spam, and extreme amounts. */
export const GOLDEN_CHAIN: readonly JsonObject[] = [
  transaction({ at: '2023-12-31T23:59:58Z', parties: [FRIEND, ANN], value: 100n * ETHER }),
  transaction({ at: '2023-12-31T23:59:59Z', parties: [FRIEND, BEN], value: 3n * ETHER + 1n }),
  transaction(
    { at: '2024-01-01T00:00:00Z', parties: [FRIEND, USDC.address], method: 'transfer(address,uint256)' },
    { erc20: [erc20(USDC, [FRIEND, ANN], 5_000n * DOLLARS)] },
  ),
  transaction(
    { at: '2024-02-29T12:00:00Z', parties: [ANN, ROUTER], method: SWAP },
    { erc20: [erc20(USDC, [ANN, ROUTER], 500n * DOLLARS), erc20(WETH, [ROUTER, ANN], ETHER / 7n)] },
  ),
  transaction(
    {
      at: '2024-02-29T12:00:10Z',
      parties: [ANN, ROUTER],
      value: 2n * ETHER,
      method: 'swapETHForExactTokens(…)',
    },
    { erc20: [erc20(USDC, [ROUTER, ANN], 61_234_567n)], internal: [coins([ROUTER, ANN], ETHER / 2n)] },
  ),
  transaction(
    { at: '2024-02-29T23:59:59Z', parties: [ANN, ROUTER], method: 'swapExactTokensForETH(…)' },
    { erc20: [erc20(WETH, [ANN, ROUTER], ETHER / 9n)], internal: [coins([ROUTER, ANN], ETHER)] },
  ),
  transaction({
    at: '2024-03-01T00:00:00Z',
    parties: [ANN, USDC.address],
    method: 'approve(address,uint256)',
  }),
  transaction({
    at: '2024-03-01T00:00:00Z',
    parties: [ANN, ROUTER],
    value: ETHER,
    failed: true,
    method: SWAP,
  }),
  transaction({
    at: '2024-03-01T06:00:00Z',
    parties: [ANN, BEN],
    value: ETHER / 4n,
    method: 'Native Transfer',
  }),
  transaction(
    { at: '2024-03-02T06:00:00Z', parties: [BEN, USDC.address], method: 'transfer(address,uint256)' },
    { erc20: [erc20(USDC, [BEN, ANN], 1n)] },
  ),
  transaction(
    { at: '2024-03-03T00:00:00Z', parties: [ANN, address('7')], value: ETHER / 10n, method: 'mint(uint256)' },
    { erc721: [nft('721', [ZERO, ANN], { id: '7' })] },
  ),
  transaction(
    { at: '2024-03-03T00:00:02Z', parties: [FRIEND, address('7')], method: '' },
    { erc1155: [nft('1155', [FRIEND, BEN], { id: String(2n ** 256n - 1n), count: 5 })] },
  ),
  transaction(
    { at: '2024-03-04T00:00:00Z', parties: [ANN, VAULT], method: 'deposit(uint256,address)' },
    { erc20: [erc20(USDC, [ANN, VAULT], 100n * DOLLARS), erc20(SHARE, [ZERO, ANN], 99n * DOLLARS)] },
  ),
  transaction(
    { at: '2024-03-05T00:00:00Z', parties: [FRIEND, SPAM.address], method: '=airdrop("x"),\u202e' },
    { erc20: [erc20({ ...SPAM, decimals: 18 }, [FRIEND, ANN], 10n ** 24n)] },
  ),
  transaction(
    { at: '2024-03-05T00:00:01Z', parties: [FRIEND, ROUTER], method: 'multisend()' },
    {
      erc20: [
        erc20(NAMELESS, [FRIEND, ANN], 12_345n),
        erc20(LONG, [FRIEND, ANN], 1n),
        erc20(WETH, [FRIEND, ANN], 10n ** 73n + 1n),
      ],
    },
  ),
  transaction({ at: '2024-03-06T00:00:00Z', parties: [ANN, ANN], value: ETHER }),
  transaction(
    { at: '2024-03-06T00:00:01Z', parties: [ANN, VAULT], method: 'burn(uint256)' },
    { erc20: [erc20(SHARE, [ANN, ZERO], 9n * DOLLARS)] },
  ),
  transaction(
    { at: '2024-03-06T00:00:02Z', parties: [ANN, ROUTER], method: 'addLiquidity(…)' },
    {
      erc20: [
        erc20(USDC, [ANN, ROUTER], 7n * DOLLARS),
        erc20(WETH, [ANN, ROUTER], 11n),
        erc20({ ...SHARE, address: address('8'), symbol: 'LP' }, [ROUTER, ANN], 77n),
      ],
    },
  ),
  transaction(
    { at: '2024-03-07T00:00:00Z', parties: [ANN, ROUTER], method: SWAP },
    { erc20: [erc20(WETH, [ANN, ROUTER], 1n), erc20(USDC, [ROUTER, ANN], 1n)] },
  ),
  transaction(
    { at: '2024-03-08T00:00:00Z', parties: [ANN, MARKET], value: ETHER / 5n, method: 'fulfillOrder(…)' },
    { erc721: [nft('721', [FRIEND, ANN], { id: '8' })] },
  ),
  transaction(
    { at: '2024-03-08T00:00:02Z', parties: [FRIEND, MARKET], method: 'fulfillOrder(…)' },
    {
      erc20: [erc20(WETH, [FRIEND, BEN], ETHER / 10n), erc20(WETH, [BEN, MARKET], ETHER / 400n)],
      erc1155: [nft('1155', [BEN, FRIEND], { id: String(2n ** 256n - 1n), count: 2 })],
    },
  ),
  transaction(
    { at: '2024-03-08T00:00:04Z', parties: [ANN, MARKET], value: ETHER / 3n, method: 'fulfillOrders(…)' },
    { erc721: ['9', '10'].map((id) => nft('721', [FRIEND, ANN], { id })) },
  ),
  transaction(
    { at: '2024-03-09T00:00:00Z', parties: [ANN, ROUTER], value: 3n * ETHER, method: 'disperse(…)' },
    { internal: [coins([ROUTER, BEN], ETHER), coins([ROUTER, FRIEND], ETHER), coins([ROUTER, ANN], 1n)] },
  ),
]

/** Swaps with one or two sides that some or all formats cannot represent, and finally one that all formats can. */
export const UNHELD_SWAPS: readonly JsonObject[] = [
  transaction(
    { at: '2024-01-01T00:00:00Z', parties: [FRIEND, ANN], value: 100n * ETHER },
    { erc20: [erc20(USDC, [FRIEND, ANN], 5_000n * DOLLARS)] },
  ),
  transaction(
    { at: '2024-01-02T00:00:00Z', parties: [ANN, ROUTER], value: 2n * ETHER, method: 'buy()' },
    { erc20: [erc20(NAMELESS, [ROUTER, ANN], 12_345n)], internal: [coins([ROUTER, ANN], ETHER / 2n)] },
  ),
  transaction(
    { at: '2024-01-03T00:00:00Z', parties: [ANN, ROUTER], method: 'sell()' },
    { erc20: [erc20(NAMELESS, [ANN, ROUTER], 2_345n)], internal: [coins([ROUTER, ANN], ETHER)] },
  ),
  transaction(
    { at: '2024-01-04T00:00:00Z', parties: [ANN, ROUTER], method: 'swapExactTokensForTokens(…)' },
    {
      erc20: [
        erc20(NAMELESS, [ANN, ROUTER], 1_000n),
        erc20({ address: address('9') }, [ROUTER, ANN], 1_000_000n),
      ],
    },
  ),
  transaction(
    { at: '2024-01-05T00:00:00Z', parties: [ANN, ROUTER], value: ETHER, method: 'buy()' },
    { erc20: [erc20(WETH, [ROUTER, ANN], 10n ** 73n + 1n)] },
  ),
  transaction(
    { at: '2024-01-06T00:00:00Z', parties: [ANN, ROUTER], method: SWAP },
    { erc20: [erc20(USDC, [ANN, ROUTER], 5n * DOLLARS), erc20(LONG, [ROUTER, ANN], 1n)] },
  ),
  transaction(
    { at: '2024-01-07T00:00:00Z', parties: [ANN, ROUTER], value: ETHER, method: SWAP },
    { erc20: [erc20(USDC, [ROUTER, ANN], 7n * DOLLARS)] },
  ),
]

/** Swaps of the same amounts by both wallets in each of ten seconds. */
export const EQUAL_SWAPS: readonly JsonObject[] = Array.from({ length: 20 }, (_, n) => {
  const [wallet, second] = [n % 2 === 0 ? ANN : BEN, Math.floor(n / 2)]
  return transaction(
    { at: `2023-11-14T22:14:0${second}Z`, parties: [wallet, ROUTER], method: SWAP },
    { erc20: [erc20(USDC, [wallet, ROUTER], 5n * DOLLARS), erc20(WETH, [ROUTER, wallet], ETHER / 7n)] },
  )
})

const HEAP = { address: address('8'), name: 'Heap', symbol: 'HEAP', decimals: 6 }
const FINE = { address: address('9'), name: 'Fine', symbol: 'FINE', decimals: 18 }

/** Amounts that fit the number limits of all programs, but whose sums exceed some of them. Those of USDC exceed none. */
export const LONG_SUMS: readonly JsonObject[] = [
  transaction(
    { at: '2024-01-01T00:00:00Z', parties: [FRIEND, ANN], value: 100n * ETHER },
    {
      erc20: [
        erc20(USDC, [FRIEND, ANN], 5_000n * DOLLARS),
        erc20(WETH, [FRIEND, ANN], 9n * 10n ** 27n + 1n),
        erc20(HEAP, [FRIEND, ANN], 9n * 10n ** 30n + 1n),
        erc20(FINE, [FRIEND, ANN], 9n * 10n ** 30n + 1n),
      ],
    },
  ),
  transaction(
    { at: '2024-01-02T00:00:00Z', parties: [FRIEND, ROUTER], method: 'send()' },
    {
      erc20: [
        erc20(WETH, [FRIEND, ANN], 2n * 10n ** 27n + 1n),
        erc20(HEAP, [FRIEND, ANN], 2n * 10n ** 30n),
        erc20(FINE, [FRIEND, ANN], 2n * 10n ** 30n),
      ],
    },
  ),
  transaction(
    { at: '2024-01-03T00:00:00Z', parties: [ANN, ROUTER], method: SWAP },
    { erc20: [erc20(USDC, [ANN, ROUTER], 5n * DOLLARS), erc20(WETH, [ROUTER, ANN], ETHER)] },
  ),
]

/** Tokens with amounts around 10^18 whole units. */
const MANY = { address: address('9'), name: 'Many', symbol: 'MANY', decimals: 6 }
const EDGE = { address: `0x${'7e'.repeat(20)}`, name: 'Edge', symbol: 'EDGE', decimals: 0 }
const DEAR = { address: `0x${'7f'.repeat(20)}`, name: 'Dear', symbol: 'DEAR', decimals: 0 }
const MOVED = { address: `0x${'7d'.repeat(20)}`, name: 'Moved', symbol: 'MOVED', decimals: 0 }

/** Amounts and values around 10^18. */
export const WHOLE_UNITS: readonly JsonObject[] = [
  transaction(
    { at: '2024-01-01T00:00:00Z', parties: [FRIEND, ANN], value: ETHER },
    {
      erc20: [
        erc20(MANY, [FRIEND, ANN], ETHER * DOLLARS),
        erc20(EDGE, [FRIEND, ANN], ETHER - 1n),
        erc20(DEAR, [FRIEND, ANN], (ETHER * 6n) / 10n),
        erc20(MOVED, [FRIEND, ANN], (ETHER * 6n) / 10n),
      ],
    },
  ),
  transaction(
    { at: '2024-01-03T00:00:00Z', parties: [ANN, FRIEND] },
    { erc20: [erc20(MOVED, [ANN, FRIEND], (ETHER * 6n) / 10n)] },
  ),
]

/** A token of which only the first transfer has metadata. */
export const LOST_METADATA: readonly JsonObject[] = [
  transaction(
    { at: '2024-01-01T00:00:00Z', parties: [FRIEND, ROUTER], method: 'send()' },
    { erc20: [erc20(USDC, [FRIEND, ANN], 5n * DOLLARS)] },
  ),
  transaction(
    { at: '2024-01-02T00:00:00Z', parties: [FRIEND, ROUTER], method: 'send()' },
    {
      erc20: [
        erc20({ address: USDC.address }, [FRIEND, ANN], 7n * DOLLARS),
        erc20({ address: USDC.address }, [FRIEND, BEN], 1n),
        erc20(NAMELESS, [FRIEND, BEN], 1n),
      ],
    },
  ),
]

/**
 * Movements that differ in nothing but their entry: in one transaction, of two wallets, and in two transactions of one
 * second.
 */
export const EQUAL_LINES: readonly JsonObject[] = [
  transaction({ at: '2024-01-01T00:00:00Z', parties: [FRIEND, ANN], value: 100n * ETHER }),
  transaction(
    { at: '2024-01-02T00:00:00Z', parties: [FRIEND, ROUTER], method: 'multicall()' },
    { erc20: [5n, 10n, 5n].map((value) => erc20(USDC, [FRIEND, ANN], value * DOLLARS)) },
  ),
  transaction(
    { at: '2024-01-03T00:00:00Z', parties: [FRIEND, ROUTER], method: 'multicall()' },
    { erc20: [ANN, BEN].map((wallet) => erc20(USDC, [FRIEND, wallet], 3n * DOLLARS)) },
  ),
  transaction({ at: '2024-01-04T00:00:00Z', parties: [ANN, FRIEND], value: ETHER }),
  transaction({ at: '2024-01-04T00:00:00Z', parties: [ANN, FRIEND], value: ETHER }),
  transaction(
    { at: '2024-01-04T00:00:00Z', parties: [FRIEND, ROUTER], method: 'send()' },
    { erc20: [erc20(USDC, [FRIEND, ANN], 7n * DOLLARS)] },
  ),
]

/** Prices of some days. WETH.e has none, and those of the last days are too old. */
export const GOLDEN_PRICES = [
  'date,asset,currency,price,source',
  '2023-12-31,native,USD,38.55,made up',
  '2024-01-01,native,USD,39,made up',
  `2024-01-01,${USDC.address},USD,0.9995,made up`,
  `2024-02-29,USDC,USD,1.0001,made up`,
  '2024-02-29,AVAX,USD,41.123456789,made up',
  '2024-03-01T05:00:00Z,native,USD,42,made up',
  '',
].join('\n')
