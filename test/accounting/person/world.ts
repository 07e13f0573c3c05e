import type { JsonObject } from '../../../src/demo-server/json.ts'
import { ANN, address, BEN, coins, createChain } from '../made-up-transactions.ts'

/**
 * Two years of a person with a wallet (Ann) and a second one (Ben) on Ethereum and Avalanche, and what an accountant books for
 * each transaction: the rows of the generic format, with the reason. The rows follow from the transactions, not from the output.
 */
type Booking = { what: string; why: string; transaction: JsonObject; rows: readonly string[] }

const [EMPLOYER, ROUTER, POOL, MARKET, BRIDGE, ZERO] = ['3', '1', '2', '9', '5', '0'].map(address) as [
  string,
  string,
  string,
  string,
  string,
  string,
]
const ETHEREUM = createChain('1')
const AVALANCHE = createChain('43114')

const tokenOf = (symbol: string, decimals: number, contract: string) => ({
  address: contract,
  name: symbol,
  symbol,
  decimals,
})
const USDC = tokenOf('USDC', 6, '0xa0b86991c6218b36c1d19d4a2e9eb0ce3606eb48')
export const STETH = tokenOf('stETH', 18, '0xae7ab96520de3a18e5e111b5eaab095312d7fe84')
const WETH = tokenOf('WETH', 18, '0xc02aaa39b223fe8d0a0e5c4f27ead9083c756cc2')
const ENS = tokenOf('ENS', 18, '0xc18360217d8f7ab5e7c516566761ea12ce7f9d72')
export const SPAM = tokenOf('freeth.io', 18, `0x${'2c'.repeat(20)}`)
const USDC_A = tokenOf('USDC', 6, '0xb97ef9ef8734c71904d8002f8b6bc66dd9c48a6e')
export const AUSDC = tokenOf('aAvaUSDC', 6, '0x625e7708f30ca75bfd92586e17077590c60eb4cd')
export const WAVAX = tokenOf('WAVAX', 18, '0xb31f66aa3c1e785363f0875a1b74e27b85fd66c7')
const POSITIONS = '0xc36442b4a4522e871399cd717abdd847ab11fe88'
const CONTROLLER = '0x253553366da8546fc250f225fe3d25d0c782303b'

/** An amount with at most six digits after the point. */
const units = (amount: number, decimals = 18) =>
  (BigInt(Math.round(amount * 1e6)) * 10n ** BigInt(decimals)) / 1_000_000n

type Chain = ReturnType<typeof createChain>
type Parties = readonly [from: string, to: string]
const sends = (chain: Chain, token: typeof USDC, parties: Parties, amount: number) =>
  chain.erc20(token, parties, units(amount, token.decimals))
const nftOf = (contract: string, symbol: string, parties: Parties, id: string): JsonObject => {
  const transfer = ETHEREUM.nft('721', parties, { id })
  const token = transfer.erc721Token as JsonObject
  return { ...transfer, erc721Token: { ...token, address: contract, name: symbol, symbol } }
}

let day = 0
/** A transaction a day after the one before. */
function on(
  chain: Chain,
  parties: Parties,
  native: { value?: number; method?: string; failed?: boolean; callType?: string },
  entries = {},
) {
  day += 1
  const at = new Date(Date.UTC(2024, 0, day, 12)).toISOString()
  return chain.transaction({ ...native, at, parties, value: units(native.value ?? 0) }, entries)
}

const FEE_E = 'fee -0.00125000000005 ETH'
const FEE_A = 'fee -0.00125000000005 AVAX'

export const ON_ETHEREUM: readonly Booking[] = [
  {
    what: 'coins from the employer',
    why: 'nobody but Ann knows that they are a salary',
    transaction: on(ETHEREUM, [EMPLOYER, ANN], { value: 10, callType: 'NATIVE_TRANSFER' }),
    rows: ['in +10 ETH'],
  },
  {
    what: 'a swap whose router returns coins',
    why: 'the price is what was kept',
    transaction: on(
      ETHEREUM,
      [ANN, ROUTER],
      { value: 2, method: 'swapETHForExactTokens(…)' },
      {
        erc20: [sends(ETHEREUM, USDC, [ROUTER, ANN], 3_000)],
        internal: [coins([ROUTER, ANN], units(0.1))],
      },
    ),
    rows: [FEE_E, 'swap +3000 USDC -1.9 ETH'],
  },
  {
    what: 'a failed swap',
    why: 'the fee is lost, the coins are not',
    transaction: on(ETHEREUM, [ANN, ROUTER], { value: 1, method: 'swapETHForExactTokens(…)', failed: true }),
    rows: [FEE_E],
  },
  {
    what: 'coins that are staked with Lido',
    why: 'the share is a receipt, not a purchase',
    transaction: on(
      ETHEREUM,
      [ANN, STETH.address],
      { value: 1, method: 'submit(address)' },
      {
        erc20: [sends(ETHEREUM, STETH, [ZERO, ANN], 1)],
      },
    ),
    rows: [FEE_E, 'pool add -1 ETH', 'pool share in +1 stETH'],
  },
  {
    what: 'the staked coins are sold with their growth',
    why: 'all of it is sold; that 0.03 grew, no event says',
    transaction: on(
      ETHEREUM,
      [ANN, ROUTER],
      { method: 'swapExactTokensForETH(…)' },
      {
        erc20: [sends(ETHEREUM, STETH, [ANN, ROUTER], 1.03)],
        internal: [coins([ROUTER, ANN], units(1.02))],
      },
    ),
    rows: [FEE_E, 'swap +1.02 ETH -1.03 stETH'],
  },
  {
    what: 'a position in a pool of Uniswap V3, of which coins come back',
    why: 'what the pool kept was added; the NFT is the receipt',
    transaction: on(
      ETHEREUM,
      [ANN, POSITIONS],
      { value: 0.5, method: 'multicall(bytes[])' },
      {
        erc20: [sends(ETHEREUM, USDC, [ANN, POOL], 800)],
        erc721: [nftOf(POSITIONS, 'UNI-V3-POS', [ZERO, ANN], '700')],
        internal: [coins([POSITIONS, ANN], units(0.05))],
      },
    ),
    rows: [FEE_E, 'pool add -0.45 ETH', 'pool add -800 USDC', 'pool share in +1 UNI-V3-POS-c36442b4#700'],
  },
  {
    what: 'a payout of that position',
    why: 'what was added and what was earned cannot be told apart',
    transaction: on(
      ETHEREUM,
      [ANN, POSITIONS],
      { method: 'collect((uint256,address,uint128,uint128))' },
      {
        erc20: [sends(ETHEREUM, USDC, [POOL, ANN], 12)],
      },
    ),
    rows: [FEE_E, 'in +12 USDC'],
  },
  {
    what: 'a name that is registered, with change',
    why: 'the name was bought for what was kept',
    transaction: on(
      ETHEREUM,
      [ANN, CONTROLLER],
      { value: 0.02, method: 'register(…)' },
      {
        erc721: [nftOf('0x57f1887a8bf19b14fc0df6fd9b2acc9af147ea85', 'ENS', [ZERO, ANN], '5')],
        internal: [coins([CONTROLLER, ANN], units(0.005))],
      },
    ),
    rows: [FEE_E, 'swap +1 ENS-57f1887a#5 -0.015 ETH'],
  },
  {
    what: 'a name that is renewed, with change',
    why: 'an expense of what was kept; coins that come back are no receipt',
    transaction: on(
      ETHEREUM,
      [ANN, CONTROLLER],
      { value: 0.01, method: 'renew(string,uint256)' },
      {
        internal: [coins([CONTROLLER, ANN], units(0.002))],
      },
    ),
    rows: [FEE_E, 'out -0.008 ETH'],
  },
  {
    what: 'an airdrop that is claimed',
    why: 'the distributor pays out nothing else',
    transaction: on(
      ETHEREUM,
      [ANN, ENS.address],
      { method: 'claimTokens(uint256,bytes32[])' },
      {
        erc20: [sends(ETHEREUM, ENS, [ENS.address, ANN], 50)],
      },
    ),
    rows: [FEE_E, 'airdrop +50 ENS'],
  },
  {
    what: 'an NFT that is bought',
    why: 'one payment for one NFT',
    transaction: on(
      ETHEREUM,
      [ANN, MARKET],
      { value: 0.4, method: 'fulfillOrder(…)' },
      {
        erc721: [ETHEREUM.nft('721', [EMPLOYER, ANN], { id: '1' })],
      },
    ),
    rows: [FEE_E, 'swap +1 APE-77777777#1 -0.4 ETH'],
  },
  {
    what: 'the NFT is sold by the buyer, less the fee of the marketplace',
    why: 'the proceeds are what Ann got',
    transaction: on(
      ETHEREUM,
      [EMPLOYER, MARKET],
      { method: 'fulfillOrder(…)' },
      {
        erc20: [sends(ETHEREUM, WETH, [EMPLOYER, ANN], 0.5), sends(ETHEREUM, WETH, [ANN, MARKET], 0.0125)],
        erc721: [ETHEREUM.nft('721', [ANN, EMPLOYER], { id: '1' })],
      },
    ),
    rows: ['swap +0.4875 WETH -1 APE-77777777#1'],
  },
  {
    what: 'spam',
    why: 'left out with --exclude-spam',
    transaction: on(
      ETHEREUM,
      [EMPLOYER, SPAM.address],
      { method: 'airdrop(…)' },
      {
        erc20: [sends(ETHEREUM, SPAM, [EMPLOYER, ANN], 1_000)],
      },
    ),
    rows: [],
  },
  {
    what: 'a token that leaves over a bridge',
    why: 'it left the chain; that it arrives elsewhere, only --match-bridges tells',
    transaction: on(
      ETHEREUM,
      [ANN, BRIDGE],
      { method: 'depositForBurn(…)' },
      {
        erc20: [sends(ETHEREUM, USDC, [ANN, BRIDGE], 500)],
      },
    ),
    rows: [FEE_E, 'out -500 USDC'],
  },
]

export const ON_AVALANCHE: readonly Booking[] = [
  {
    what: 'coins for fees',
    why: 'a receipt',
    transaction: on(AVALANCHE, [EMPLOYER, ANN], { value: 5, callType: 'NATIVE_TRANSFER' }),
    rows: ['in +5 AVAX'],
  },
  {
    what: 'the token that arrives over the bridge, less its fee',
    why: 'a receipt on this chain',
    transaction: on(
      AVALANCHE,
      [EMPLOYER, BRIDGE],
      { method: 'receiveMessage(…)' },
      {
        erc20: [sends(AVALANCHE, USDC_A, [ZERO, ANN], 499)],
      },
    ),
    rows: ['in +499 USDC'],
  },
  {
    what: 'an approval',
    why: 'its fee only',
    transaction: on(AVALANCHE, [ANN, USDC_A.address], { method: 'approve(address,uint256)' }),
    rows: [FEE_A],
  },
  {
    what: 'coins that are wrapped',
    why: 'nothing is sold',
    transaction: on(AVALANCHE, [ANN, WAVAX.address], { value: 2, method: 'deposit()' }),
    rows: [FEE_A, 'wrap +2 WAVAX -2 AVAX'],
  },
  {
    what: 'a deposit to a lending protocol',
    why: 'the rebasing token is a receipt',
    transaction: on(
      AVALANCHE,
      [ANN, POOL],
      { method: 'supply(address,uint256,address,uint16)' },
      {
        erc20: [sends(AVALANCHE, USDC_A, [ANN, POOL], 300), sends(AVALANCHE, AUSDC, [ZERO, ANN], 300)],
      },
    ),
    rows: [FEE_A, 'pool add -300 USDC', 'pool share in +300 aAvaUSDC'],
  },
  {
    what: 'the withdrawal with interest',
    why: 'more comes back than was lent; the interest has no event of its own',
    transaction: on(
      AVALANCHE,
      [ANN, POOL],
      { method: 'withdraw(address,uint256,address)' },
      {
        erc20: [sends(AVALANCHE, AUSDC, [ANN, ZERO], 303), sends(AVALANCHE, USDC_A, [POOL, ANN], 303)],
      },
    ),
    rows: [FEE_A, 'pool share out -303 aAvaUSDC', 'pool remove +303 USDC'],
  },
  {
    what: 'a transfer to the second wallet',
    why: 'it stays with the owner',
    transaction: on(
      AVALANCHE,
      [ANN, USDC_A.address],
      { method: 'transfer(address,uint256)' },
      {
        erc20: [sends(AVALANCHE, USDC_A, [ANN, BEN], 100)],
      },
    ),
    rows: [FEE_A, 'own out -100 USDC', 'own in +100 USDC'],
  },
  {
    what: 'a swap that pays the second wallet',
    why: 'the first one sells, and what it bought stays with the owner',
    transaction: on(
      AVALANCHE,
      [ANN, ROUTER],
      { method: 'swapExactTokensForTokens(…)' },
      {
        erc20: [sends(AVALANCHE, WAVAX, [ANN, ROUTER], 1), sends(AVALANCHE, USDC_A, [ROUTER, BEN], 30)],
      },
    ),
    rows: [FEE_A, 'swap +30 USDC -1 WAVAX', 'own out -30 USDC', 'own in +30 USDC'],
  },
]
