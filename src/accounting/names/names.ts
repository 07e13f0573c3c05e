import { isNft } from '../../core/model/asset.ts'
import { chainOf } from '../../core/model/chains.ts'
import type { Asset, Movement } from '../movement.ts'

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

/** The name of a method in notes and journals: sanitized, without its parameters, and cut to 60 code points. */
export const methodName = memoized((method) => {
  const text = safeText(method)
  return [...(withoutParameters(text) || text)].slice(0, METHOD_CHARACTERS).join('')
})

/** The part of a method before its parameters: `swap` of `swap(uint256,address)`. */
export const withoutParameters = (method: string): string => method.split('(', 1)[0]?.trim() ?? ''

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

/** Number of digits that are enough to distinguish most addresses. */
const DIGITS = 8

export const firstDigits = (address: string): string => address.slice(2, 2 + DIGITS)

const bothEnds = (address: string): string => `${firstDigits(address)}-${address.slice(-4)}`

const allDigits = (address: string): string => address.slice(2)

/**
 * Returns digits that distinguish each address from the others: the first eight; if several addresses share these, also
 * the last four; and if that is not enough, all digits. The result depends on the set of addresses but not on its
 * order, so two addresses never swap their digits.
 */
export function digitsToDistinguish(addresses: readonly string[]): ReadonlyMap<string, string> {
  const distinct = [...new Set(addresses)]
  const counts = [firstDigits, bothEnds].map((shorten) => ({ shorten, count: countBy(distinct, shorten) }))
  const digitsOf = (address: string) => {
    const unique = counts.find(({ shorten, count }) => count.get(shorten(address)) === 1)
    return (unique?.shorten ?? allDigits)(address)
  }
  return new Map(distinct.map((address) => [address, digitsOf(address)]))
}

/** Counts the items per key. */
export function countBy<T>(items: readonly T[], keyOf: (item: T) => string): Map<string, number> {
  const counts = new Map<string, number>()
  for (const key of items.map(keyOf)) counts.set(key, (counts.get(key) ?? 0) + 1)
  return counts
}

/** Returns the name of a wallet with a label; its address if it has none. */
export type WalletNameOf = (address: string, label: string | null | undefined) => string

/**
 * Names wallets by their labels: sanitized, and without the characters that the program does not accept. The address follows
 * if the label equals the label or address of another wallet (ignoring case).
 */
export function walletNamer(
  wallets: readonly { address: string; label?: string | null | undefined }[],
  { excludedFromWallets }: { excludedFromWallets?: RegExp },
): WalletNameOf {
  const textOf = (label: string | null | undefined) =>
    safeText(
      excludedFromWallets === undefined ? (label ?? '') : (label ?? '').replace(excludedFromWallets, ''),
    )
  const owners = new Map<string, Set<string>>()
  for (const { address, label } of wallets)
    for (const name of [address, textOf(label).toLowerCase()])
      owners.set(name, (owners.get(name) ?? new Set()).add(address))
  return (address, label) => {
    const name = textOf(label)
    const key = name.toLowerCase()
    if (name === '' || key === address) return address
    return (owners.get(key)?.size ?? 0) > 1 ? `${name} ${address}` : name
  }
}

/** File names are limited to 255 bytes: 45 characters of up to 4 bytes, the address and the extension. */
const MAX_LABEL_CHARACTERS = 45

/**
 * The name, without extension, of the file that a movement belongs to if each wallet has its own. A wallet with different
 * labels in several exports has a file for each label.
 */
export function walletFileName({ wallet, label }: Pick<Movement, 'wallet' | 'label'>): string {
  const sanitized = safeText(label ?? '').replace(/[^\p{L}\p{N}._ -]/gu, '')
  const name = [...sanitized].slice(0, MAX_LABEL_CHARACTERS).join('')
  return name === '' ? wallet : `${name}-${wallet}`
}
