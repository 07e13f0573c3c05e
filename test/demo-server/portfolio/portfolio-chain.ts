import type { ChainState } from '../../../src/demo-server/chain-state.ts'
import type { JsonObject } from '../../../src/demo-server/json.ts'
import { digest, priceOf } from '../../../src/demo-server/portfolio-prices.ts'
import { type ChainWriter, createChainWriter, type NewTransaction } from './chain-writer.ts'
import { type Party, party, type Token, type Transfer, wellKnownToken, ZERO_ADDRESS } from './parties.ts'

// Two made-up years of one person's wallets, as `walletlake demo` exports them. Everything is derived: the addresses from
// names, the amounts from the prices of the day and from what is held.

/** An account that the service has no name for. Outputs list accounts by their addresses, so the first digit orders them. */
const account = (name: string, firstDigit: string): Party => ({
  address: `0x${firstDigit}${digest(name).slice(1, 40)}`,
})

const main = account('Main', '1')
const savings = account('Savings', '3')
const trading = account('Trading', '5')
const collectibles = account('Collectibles', '8')
/** Receives unsolicited tokens with hostile names. */
const airdrops = account('Airdrops', 'c')
const spammer = account('spammer', 'e')

const COINBASE = party('Coinbase')
const ACME = party('Acme Payroll')
const LANDLORD = party('Hillside Apartments')
const UNISWAP = party('Uniswap Universal Router')
const POOL = party('Uniswap V3 Pool')
const GMX_REWARDS = party('GMX Reward Router')
const OPENSEA = party('OpenSea Seaport')
const COLLECTOR = party('0xcollector.eth')

const USDC = wellKnownToken('USDC', 'USD Coin')
const WETH = wellKnownToken('WETH', 'Wrapped Ether')
const WBTC = wellKnownToken('WBTC', 'Wrapped BTC')
const WSTETH = wellKnownToken('wstETH', 'Wrapped liquid staked Ether 2.0')
const ARB = wellKnownToken('ARB', 'Arbitrum')
const LINK = wellKnownToken('LINK', 'ChainLink Token')
const GMX = wellKnownToken('GMX', 'GMX')

const madeUpToken = (name: string, symbol: string, decimals = 0): Token => ({
  address: party(name).address,
  name,
  symbol,
  decimals,
})
const TIDEPOOLS = madeUpToken('Tidepools', 'TIDE')
const PASSES = madeUpToken('Harbour Passes', 'PASS')

/** Tokens whose names attack spreadsheets, pages and people. */
const SPAM = [
  madeUpToken('=1+1', '=1+1', 18),
  madeUpToken('Bold', '<b>X</b>', 18),
  madeUpToken('Visit claim-arb.example to claim 5,000 ARB', 'claim-arb.example', 18),
  madeUpToken('USDC bonus', 'usdc-bonus.example', 6),
  madeUpToken('@SUM(A1:A9)', '@SUM(A1:A9)', 9),
]

type Plan = { day: string; act: (writer: ChainWriter, time: number, day: string) => void }

/** The chain of the portfolio: its transactions in order, and the balances of its wallets. */
export function buildPortfolio(): { items: readonly JsonObject[]; state: ChainState } {
  const writer = createChainWriter([main, savings, trading, collectibles, airdrops])
  const plans = [...monthlyPlans(), ...weeklyPlans(), ...singlePlans()]
  // Plans of one day happen in the order in which they are written here.
  plans.sort((a, b) => (a.day < b.day ? -1 : Number(a.day > b.day)))
  let time = 0
  for (const [at, { day, act }] of plans.entries()) {
    const seconds = 6 * 3600 + (Number.parseInt(digest(`${day} ${at}`).slice(0, 6), 16) % 9_000)
    time = Math.max(time + 97, Date.parse(day) / 1000 + seconds)
    act(writer, time, day)
  }
  return writer.finish()
}

/** An amount with the last digits that real amounts have. */
function amountOf(units: number, { decimals }: Pick<Token, 'decimals'>, seed: string): bigint {
  const digits = Math.min(decimals, 6)
  const rest = decimals - digits
  const tail = rest === 0 ? 0n : BigInt(`0x${digest(seed).slice(0, 12)}`) % 10n ** BigInt(rest)
  return BigInt(Math.round(units * 10 ** digits)) * 10n ** BigInt(rest) + tail
}

const round = (units: number, { decimals }: Pick<Token, 'decimals'> = ETH): bigint =>
  (BigInt(Math.round(units * 1e6)) * 10n ** BigInt(decimals)) / 1_000_000n

const ETH = { decimals: 18 }

/** Sends coins or a token from one party to another. */
const transfer =
  (from: Party, to: Party, units: number, token?: Token): Plan['act'] =>
  (writer, time) => {
    const value = round(units, token)
    writer.send(
      token === undefined
        ? { time, from, to, value, gas: 21_000 }
        : {
            time,
            from,
            to: { address: token.address, name: token.name },
            method: 'transfer(address,uint256)',
            gas: 46_109,
            transfers: [{ from, to, value, token }],
          },
    )
  }

/** Sends a share of what a wallet has, down to four decimals. */
const share =
  (from: Party, to: Party, part: number, token?: Token): Plan['act'] =>
  (writer, time, day) => {
    const decimals = token?.decimals ?? ETH.decimals
    const units = Number(writer.balance(from, token)) / 10 ** decimals
    transfer(from, to, Math.floor(units * part * 1e4) / 1e4, token)(writer, time, day)
  }

/** A swap that reverted, so that only its fee was paid. */
const failedSwap = (wallet: Party): Plan['act'] =>
  call({ from: wallet, to: UNISWAP, method: SWAP, gas: 64_210, isFailed: true })

const SWAP = 'execute(bytes,bytes[],uint256)'

/** A swap of an amount of one asset for what it is worth in another; undefined stands for ETH. */
const swap =
  (wallet: Party, units: number, sold?: Token, bought?: Token): Plan['act'] =>
  (writer, time, day) => {
    const price = (token?: Token) => priceOf(token?.symbol ?? 'ETH', day) ?? 0
    const out = round(units, sold)
    const received = (units * price(sold) * 0.997) / price(bought)
    const value = amountOf(received, bought ?? ETH, `swap ${time}`)
    const incoming: Transfer =
      bought === undefined
        ? { from: UNISWAP, to: wallet, value }
        : { from: POOL, to: wallet, value, token: bought }
    writer.send({
      time,
      from: wallet,
      to: UNISWAP,
      value: sold === undefined ? out : 0n,
      method: SWAP,
      gas: 178_000 + (time % 9_000),
      transfers: [
        ...(sold === undefined ? [] : [{ from: wallet, to: POOL, value: out, token: sold }]),
        incoming,
      ],
    })
  }

/** Sells a share of a token for another one. */
const sell =
  (wallet: Party, part: number, sold: Token, bought?: Token): Plan['act'] =>
  (writer, time, day) => {
    const units = Number(writer.balance(wallet, sold)) / 10 ** sold.decimals
    swap(wallet, Math.floor(units * part * 1e4) / 1e4, sold, bought)(writer, time, day)
  }

const call =
  (transaction: Omit<NewTransaction, 'time'>): Plan['act'] =>
  (writer, time) =>
    writer.send({ ...transaction, time })

const approve = (from: Party, { address, name }: Token): Plan['act'] =>
  call({ from, to: { address, name }, method: 'approve(address,uint256)', gas: 46_600 })

const nftOf = (token: Token, tokenId: string, from: Party, to: Party): Transfer => ({
  from,
  to,
  value: 1n,
  token,
  tokenId,
})

const mint = (token: Token, tokenId: string, cost: number): Plan['act'] =>
  call({
    from: collectibles,
    to: { address: token.address, name: token.name },
    value: round(cost),
    method: 'mint(uint256)',
    gas: 121_400,
    transfers: [{ ...nftOf(token, tokenId, ZERO_ADDRESS, collectibles), isMulti: token === PASSES }],
  })

const buyNft = (token: Token, tokenId: string, cost: number): Plan['act'] =>
  call({
    from: collectibles,
    to: OPENSEA,
    value: round(cost),
    method: 'fulfillBasicOrder(tuple)',
    gas: 164_300,
    transfers: [nftOf(token, tokenId, COLLECTOR, collectibles)],
  })

const sellNft = (token: Token, tokenId: string, price: number): Plan['act'] =>
  call({
    from: COLLECTOR,
    to: OPENSEA,
    value: round(price),
    method: 'fulfillBasicOrder(tuple)',
    gas: 171_900,
    transfers: [
      nftOf(token, tokenId, collectibles, COLLECTOR),
      { from: OPENSEA, to: collectibles, value: round(price * 0.975) },
    ],
  })

const spam = (token: Token, units: number): Plan['act'] =>
  call({
    from: spammer,
    to: { address: token.address, name: token.name },
    method: 'multisend(address[],uint256)',
    gas: 2_310_000,
    transfers: [{ from: spammer, to: airdrops, value: round(units, token), token }],
  })

const MONTHS = Array.from(
  { length: 24 },
  (_, at) => `${2024 + Math.floor(at / 12)}-${String((at % 12) + 1).padStart(2, '0')}`,
)

/** Salary, rent, savings, and the rewards of staked GMX. */
function monthlyPlans(): Plan[] {
  return MONTHS.flatMap((month, at) => [
    { day: `${month}-02`, act: transfer(ACME, main, at < 12 ? 3_200 : 3_450, USDC) },
    { day: `${month}-03`, act: transfer(main, LANDLORD, at < 12 ? 1_150 : 1_190, USDC) },
    { day: `${month}-20`, act: share(main, savings, 0.6) },
    ...(at < 2 ? [] : [{ day: `${month}-26`, act: reward(at) }]),
    ...(at % 3 === 2 ? [{ day: `${month}-21`, act: stake } satisfies Plan] : []),
  ])
}

const reward =
  (month: number): Plan['act'] =>
  (writer, time) =>
    writer.send({
      time,
      from: trading,
      to: GMX_REWARDS,
      method: 'claim()',
      gas: 241_000,
      transfers: [
        {
          from: GMX_REWARDS,
          to: trading,
          value: amountOf(0.011 + (month % 5) * 0.001, WETH, `reward ${time}`),
          token: WETH,
        },
      ],
    })

/** Savings turn half of their ETH into staked ETH. */
const stake: Plan['act'] = (writer, time, day) => {
  const units = Number(writer.balance(savings)) / 1e18
  swap(savings, Math.floor(units * 50) / 100, undefined, WSTETH)(writer, time, day)
}

const WEEK_MS = 604_800_000

/** Every Friday, a part of the salary becomes ETH. */
function weeklyPlans(): Plan[] {
  const first = Date.parse('2024-01-05')
  return Array.from({ length: 104 }, (_, week) => ({
    day: new Date(first + week * WEEK_MS).toISOString().slice(0, 10),
    act: swap(main, 300 + 50 * (week % 3), USDC),
  }))
}

/** What happened once. */
function singlePlans(): Plan[] {
  const plans: readonly (readonly [day: string, act: Plan['act']])[] = [
    ['2024-01-02', transfer(COINBASE, main, 1.25)],
    ['2024-01-02', transfer(COINBASE, main, 5_000, USDC)],
    ['2024-01-04', approve(main, USDC)],
    ['2024-01-08', transfer(COINBASE, savings, 0.05, WBTC)],
    ['2024-01-09', transfer(main, savings, 0.05)],
    ['2024-01-10', transfer(main, trading, 0.15)],
    ['2024-01-10', transfer(main, trading, 3_500, USDC)],
    ['2024-01-11', approve(trading, USDC)],
    ['2024-01-11', swap(trading, 900, USDC, ARB)],
    ['2024-01-12', swap(trading, 750, USDC, GMX)],
    ['2024-01-12', transfer(main, airdrops, 0.01)],
    ['2024-02-14', swap(trading, 600, USDC, LINK)],
    ['2024-02-19', transfer(main, collectibles, 0.4)],
    ['2024-02-22', mint(TIDEPOOLS, '118', 0.03)],
    ['2024-02-22', mint(TIDEPOOLS, '119', 0.03)],
    ['2024-03-06', sell(trading, 0.5, ARB, USDC)],
    ['2024-03-11', buyNft(TIDEPOOLS, '42', 0.09)],
    ['2024-03-12', transfer(COINBASE, savings, 0.03, WBTC)],
    ['2024-04-17', failedSwap(trading)],
    ['2024-04-17', swap(trading, 500, USDC, ARB)],
    ['2024-05-23', sellNft(TIDEPOOLS, '119', 0.085)],
    ['2024-06-01', spam(SPAM[0] as Token, 88_000)],
    ['2024-06-18', mint(PASSES, '7', 0)],
    ['2024-07-05', spam(SPAM[1] as Token, 1_000)],
    ['2024-07-09', transfer(trading, COINBASE, 500, USDC)],
    ['2024-08-05', swap(trading, 400, USDC, LINK)],
    ['2024-08-06', transfer(COINBASE, savings, 0.04, WBTC)],
    ['2024-09-10', spam(SPAM[2] as Token, 5_000)],
    ['2024-10-02', buyNft(TIDEPOOLS, '7', 0.05)],
    ['2024-11-11', sell(trading, 0.4, LINK, USDC)],
    ['2024-12-05', sell(trading, 0.5, LINK, USDC)],
    ['2024-12-16', transfer(main, COINBASE, 2_500, USDC)],
    ['2025-01-14', spam(SPAM[3] as Token, 5_000)],
    ['2025-01-20', transfer(main, trading, 1_500, USDC)],
    ['2025-02-03', swap(trading, 800, USDC, LINK)],
    ['2025-03-04', mint(PASSES, '12', 0.01)],
    ['2025-04-08', swap(trading, 700, USDC)],
    ['2025-04-22', approve(savings, WBTC)],
    ['2025-05-13', sellNft(TIDEPOOLS, '42', 0.06)],
    ['2025-06-05', spam(SPAM[4] as Token, 777)],
    ['2025-07-18', sell(trading, 0.5, WETH)],
    ['2025-08-22', sell(trading, 0.6, LINK, USDC)],
    ['2025-08-25', swap(trading, 0.15, undefined, USDC)],
    ['2025-10-06', transfer(trading, main, 1_000, USDC)],
    ['2025-10-10', failedSwap(trading)],
    ['2025-11-04', transfer(main, COINBASE, 3_000, USDC)],
    ['2025-12-19', swap(trading, 400, USDC, LINK)],
    ['2025-12-31', transfer(COINBASE, main, 0.2)],
  ]
  return plans.map(([day, act]) => ({ day, act }))
}
