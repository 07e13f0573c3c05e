import { isNft } from '../../core/model/asset.ts'
import type { Asset } from '../movement.ts'
import { firstDigits } from './first-digits.ts'

/** Strangers' text without what a terminal, a spreadsheet or another program could take for more than text. */
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

/** A method's name in notes and journals: safe, and so many characters at most, none of which is cut in two. */
export const methodName = memoized((method) => [...safeText(method)].slice(0, METHOD_CHARACTERS).join(''))

const METHOD_CHARACTERS = 60

/** The same text comes again and again; so many different ones are kept. */
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

/** A symbol as a ticker: letters, digits, dots and lines, up to 12 of them. */
const ticker = memoized(shortenSymbol)

function shortenSymbol(symbol: string): string {
  const allowed = safeText(symbol).replace(/[^\p{L}\p{N}._-]/gu, '')
  // What stood before a minus sign may be gone: a spreadsheet would run the rest.
  const safe = allowed.replace(/^-+/, '')
  return [...safe].slice(0, 12).join('')
}

/**
 * The coin by its symbol, a token by its symbol and eight digits of its contract, an NFT with its id too: a name that does not
 * depend on what part of an export is converted.
 */
export function tickerName(asset: Asset): string {
  const { address, symbol, tokenId } = asset
  if (address === null) return ticker(symbol ?? '') || 'COIN'
  const name = collectionName(asset)
  return isNft(asset) ? `${name}#${tokenId}` : name
}

/** The name of a contract's tokens, without the id of an NFT; empty for the coin. */
export function collectionName(asset: Asset | undefined): string {
  if (asset === undefined || asset.address === null) return ''
  return `${ticker(asset.symbol ?? '') || (isNft(asset) ? 'NFT' : 'TOKEN')}-${digitsOf(asset.address, asset)}`
}

/** What tells a contract from others in names. */
export const digitsOf = (address: string, { digits }: Pick<Asset, 'digits'>): string =>
  digits ?? firstDigits(address)

/** The name of CAIP-19, for programs that know tokens by their contract. */
export function caipName({ type, address, symbol, tokenId }: Asset, chain: string): string {
  if (address === null) return ticker(symbol ?? '') || 'COIN'
  const token = `eip155:${chain}/${type}:${address}`
  return type === 'erc20' ? token : `${token}/${tokenId}`
}
