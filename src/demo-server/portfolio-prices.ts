import { hash } from 'node:crypto'
import { DAY_MS, utcDay } from '../core/model/utc.ts'
import { wellKnownTokens } from '../core/model/well-known-tokens.ts'
import { csvRows } from '../core/platform/csv-rows.ts'

/** Id of the chain of the portfolio: Arbitrum One, whose coin is ETH and whose fees are gas alone. */
export const PORTFOLIO_CHAIN = '42161'

/** 32 bytes that follow from a text, in hexadecimal. */
export const digest = (text: string): string => hash('sha256', `walletlake demo: ${text}`)

/** The contract of a well-known token. */
export function contractOf(ticker: string): string {
  for (const [contract, token] of wellKnownTokens(PORTFOLIO_CHAIN))
    if (token.ticker === ticker) return contract
  throw new Error(`no well-known token ${ticker}`)
}

/**
 * Prices in USD at the beginning of each month from January 2024 to January 2026. They follow the markets of that time, but
 * none is a quote: between the months they are interpolated and moved by up to two percent.
 */
const MONTHLY: Readonly<Record<string, string>> = {
  ETH: '2290 2280 3340 3650 3010 3760 3440 3230 2430 2600 2520 3600 3330 3290 2210 1820 1790 2490 2490 3700 4390 4150 3900 3020 2970',
  WBTC: '42300 42600 61200 71300 58300 67500 62700 64600 57300 63300 69500 96400 93400 102400 84300 82500 94200 104600 107100 115700 108200 114000 109500 90400 87600',
  ARB: '1.62 1.81 1.98 1.68 1.01 1.15 0.79 0.69 0.5 0.6 0.53 0.9 0.72 0.66 0.42 0.33 0.33 0.36 0.34 0.4 0.5 0.42 0.31 0.21 0.19',
  LINK: '15 15.3 18.6 19 13.3 18.3 14.3 12.6 10.8 12.1 11.1 19 20 24.5 15 13.5 14.4 14 13.2 16.5 23.4 21.5 17 13 12.4',
  GMX: '52 43 44 43 27 39 29 27 27 25 20 27 28 21 17 13 14 15 13 15 15 13.5 11 9 8.2',
}

/** How much ETH a wstETH is worth at the beginning, and by how much more each month. */
const STAKED = { start: 1.152, monthly: 0.0029 }

/** By asset: `native` for the coin, else the contract. */
const SYMBOLS: ReadonlyMap<string, string> = new Map([
  ['native', 'ETH'],
  ...['USDC', 'WETH', 'WBTC', 'ARB', 'LINK', 'GMX', 'wstETH'].map(
    (ticker) => [contractOf(ticker), ticker] as const,
  ),
])

/** The made-up price of the coin on a UTC day, in USD; undefined after 2025 and before 2024. */
export const coinPriceOn = (day: string): number | undefined => priceOf('ETH', day)

/** The text of a price file: the made-up prices of the coin and the genuine tokens of the portfolio on each day. */
export function portfolioPriceFile(): string {
  const first = Date.parse('2024-01-01')
  const days = Array.from({ length: 731 }, (_, at) => utcDay(first + at * DAY_MS))
  const lines = days.flatMap((day) =>
    [...SYMBOLS].map(([asset, symbol]) => [
      day,
      PORTFOLIO_CHAIN,
      asset,
      'USD',
      String(priceOf(symbol, day) ?? ''),
      symbol,
      'made up',
    ]),
  )
  return csvRows([['date', 'chain', 'asset', 'currency', 'price', 'symbol', 'source'], ...lines])
}

/** The price of a symbol on a day, with four significant decimals. */
export function priceOf(symbol: string, day: string): number | undefined {
  if (symbol === 'USDC') return 1
  const [year = 0, month = 0, date = 0] = day.split('-').map(Number)
  const at = (year - 2024) * 12 + month - 1 + (date - 1) / 31
  const market = symbol === 'WETH' || symbol === 'wstETH' ? 'ETH' : symbol
  const monthly = MONTHLY[market]?.split(' ').map(Number)
  const [before, after] = [monthly?.[Math.floor(at)], monthly?.[Math.floor(at) + 1]]
  if (before === undefined || after === undefined) return undefined
  const middle = before + (after - before) * (at % 1)
  const noise = (Number.parseInt(digest(`${market} ${day}`).slice(0, 4), 16) / 65_536 - 0.5) * 0.04
  const factor = symbol === 'wstETH' ? STAKED.start + STAKED.monthly * at : 1
  return Number((middle * factor * (1 + noise)).toPrecision(5))
}
