import { wellKnownTokens } from '../../../src/core/model/well-known-tokens.ts'
import { contractOf, digest, PORTFOLIO_CHAIN } from '../../../src/demo-server/portfolio-prices.ts'

/** An account or a contract. The name is what the service reports about it. */
export type Party = { readonly address: string; readonly name?: string }

export type Token = {
  readonly address: string
  readonly name: string
  readonly symbol: string
  readonly decimals: number
}

/** One movement of a transaction. Without a token it moves coins, as an internal transaction. */
export type Transfer = {
  readonly from: Party
  readonly to: Party
  readonly value: bigint
  readonly token?: Token
  /** Of an NFT; its standard is ERC-1155 if `isMulti`, else ERC-721. */
  readonly tokenId?: string
  readonly isMulti?: boolean
}

/** The zero address, which mints and burns. */
export const ZERO_ADDRESS: Party = { address: `0x${'0'.repeat(40)}` }

/** An account or contract whose address follows from its name. */
export const party = (name: string): Party => ({ name, address: `0x${digest(name).slice(0, 40)}` })

/** A well-known token by its ticker, at its real address. */
export function wellKnownToken(ticker: string, name: string): Token {
  const address = contractOf(ticker)
  return {
    address,
    name,
    symbol: ticker,
    decimals: wellKnownTokens(PORTFOLIO_CHAIN).get(address)?.decimals ?? 0,
  }
}
