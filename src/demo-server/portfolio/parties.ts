import { createHash } from 'node:crypto'
import { wellKnownTokens } from '../../core/model/well-known-tokens.ts'

/** Id of the chain of the portfolio: Arbitrum One, whose coin is ETH and whose fees are gas alone. */
export const PORTFOLIO_CHAIN = '42161'

/** An account or a contract. The name is what the service states about it. */
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

/** 32 bytes that follow from a text, in hexadecimal. */
export const digest = (text: string): string =>
  createHash('sha256').update(`walletlake demo: ${text}`).digest('hex')

/** An account or contract whose address follows from its name. */
export const party = (name: string): Party => ({ name, address: `0x${digest(name).slice(0, 40)}` })

/** A well-known token by its ticker, at its real address. */
export function wellKnownToken(ticker: string, name: string): Token {
  for (const [address, token] of wellKnownTokens(PORTFOLIO_CHAIN))
    if (token.ticker === ticker) return { address, name, symbol: ticker, decimals: token.decimals }
  throw new Error(`no well-known token ${ticker}`)
}
