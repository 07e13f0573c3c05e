import { isNft } from '../../core/model/asset.ts'
import { chainOf } from '../../core/model/chains.ts'
import type { Asset } from '../movement.ts'
import { firstDigits } from './first-digits.ts'

/**
 * Sanitizes untrusted text: removes control and invisible characters, quotes and delimiters, and leading characters
 * that start a formula in a spreadsheet.
 */
export const safeText = memoized(sanitizeText)

function sanitizeText(text: string): string {
  return text
    .normalize('NFKC')
    .replace(/[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu, '')
    .replace(/["'`\\;|<>{}]/g, '')
    .replace(/\s+/g, ' ')
    .replace(/^[\s=+\-@]+/, '')
    .trim()
}

/** The name of a method in notes and journals: sanitized, and cut to 60 code points. */
export const methodName = memoized((method) => [...safeText(method)].slice(0, METHOD_CHARACTERS).join(''))

const METHOD_CHARACTERS = 60

/** Size of each cache of sanitized texts. The same texts recur in many rows. */
const MAX_MEMOIZED = 10_000

function memoized(make: (text: string) => string): (text: string) => string {
  const cache = new Map<string, string>()
  return (text) => {
    const cached = cache.get(text)
    if (cached !== undefined) return cached
    if (cache.size === MAX_MEMOIZED) cache.clear()
    const fresh = make(text)
    cache.set(text, fresh)
    return fresh
  }
}

/** Shortens a symbol to 12 letters, digits, dots, underscores and hyphens. */
const shortSymbol = memoized(shortenSymbol)

function shortenSymbol(symbol: string): string {
  const allowed = safeText(symbol).replace(/[^\p{L}\p{N}._-]/gu, '')
  // Removing characters can bring a minus sign to the front, which a spreadsheet would read as a formula.
  const safe = allowed.replace(/^-+/, '')
  return [...safe].slice(0, 12).join('')
}

/**
 * Names an asset: the native coin by its symbol, a token by its ticker or else by its symbol and digits of its contract,
 * an NFT with its id as well. The name does not depend on the converted part of the export.
 */
export function tickerName(asset: Asset): string {
  const { address, symbol, tokenId } = asset
  if (address === null) return shortSymbol(symbol ?? '') || 'COIN'
  if (asset.ticker !== undefined) return asset.ticker
  const name = collectionName(asset)
  return isNft(asset) ? `${name}#${tokenId}` : name
}

/** The name of a contract's tokens, without the id of an NFT; empty for the native coin. */
export function collectionName(asset: Asset | undefined): string {
  if (asset === undefined || asset.address === null) return ''
  return `${shortSymbol(asset.symbol ?? '') || (isNft(asset) ? 'NFT' : 'TOKEN')}-${digitsOf(asset.address, asset)}`
}

/** The digits that distinguish a contract from others in names. */
export const digitsOf = (address: string, { digits }: Pick<Asset, 'digits'>): string =>
  digits ?? firstDigits(address)

/** Identifiers of native coins in a program, by their symbol in the table of chains. */
export type CoinIds = Readonly<Record<string, string>>

/**
 * The identifier of a native coin: that of the user's file or else that of the program. Undefined if there is none. The
 * symbol of the export is not used, because the program could have another asset with this symbol.
 */
export function coinIdOf({ ticker }: Asset, chain: string, coinIds: CoinIds): string | undefined {
  return ticker ?? coinIds[chainOf(chain)?.symbol ?? '']
}

/**
 * The CAIP-19 identifier of a token, for programs that identify tokens by contract, unless the user's file gives
 * another identifier. Empty for a native coin without an identifier.
 */
export function caipName(asset: Asset, chain: string, coinIds: CoinIds): string {
  const { type, address, ticker, tokenId } = asset
  if (address === null) return coinIdOf(asset, chain, coinIds) ?? ''
  if (ticker !== undefined) return ticker
  const token = `eip155:${chain}/${type}:${address}`
  return type === 'erc20' ? token : `${token}/${tokenId}`
}
