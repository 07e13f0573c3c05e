import { chainOf } from './chains.ts'
import { knownContracts, wellKnownTokens } from './well-known-tokens.ts'

/**
 * Tickers of well-known tokens that are meant to be worth one unit of a currency, bridged ones included. Tokens that earn
 * interest, such as sDAI, and synthetic dollars, such as USDe, are not listed.
 */
const PEGGED_TICKERS: Readonly<Record<string, string>> = {
  USD: 'USDC USDC.e USDbC USDT USDT.e DAI DAI.e BUSD FDUSD TUSD PYUSD RLUSD USDS AUSD GHO crvUSD cUSD',
  EUR: 'EURC cEUR',
}

/** Whether a contract of a chain is a stablecoin of a currency, such as USD. */
export function isStablecoin(chain: string, contract: string, currency: string): boolean {
  const ticker = wellKnownTokens(chain).get(contract)?.ticker
  return ticker !== undefined && (PEGGED_TICKERS[currency] ?? '').split(' ').includes(ticker)
}

/** Whether a contract of a chain is its wrapped native coin, with or without events that the ledger reads. */
export function isWrappedNative(chain: string, contract: string): boolean {
  const coin = chainOf(chain)
  if (coin === undefined || !knownContracts(chain).has(contract)) return false
  const ticker = wellKnownTokens(chain).get(contract)?.ticker
  // Only contracts of the table of chains are known without a ticker: further wrapped coins of a chain.
  return ticker === undefined || ticker.toUpperCase() === `W${coin.symbol.toUpperCase()}`
}
