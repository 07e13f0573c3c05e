import { hash } from 'node:crypto'
import type { Cell, Row } from '../core/table/index.ts'
import { shiftDecimal } from './decimal.ts'
import type { Internal } from './internal.ts'
import type { Native } from './native.ts'
import type { Erc20, Erc721, Erc1155, Metadata } from './transfers.ts'

/** The first six cells of every row of a transaction. */
export type Prefix = readonly [Cell, Cell, Cell, Cell, Cell, Cell]

export function prefixOf(native: Native, chain: string): Prefix {
  const { blockNumber, blockHash, timeMs, hash, index } = native
  return [native.chainId ?? chain, blockNumber, blockHash, timeMs, hash, index]
}

export function transactionRow(prefix: Prefix, native: Native): Row {
  return [
    ...prefix,
    native.type,
    native.status,
    native.success,
    native.nonce,
    native.from.address,
    native.from.name,
    native.to.address,
    native.to.name,
    native.value,
    native.gasLimit,
    native.gasUsed,
    native.gasPrice,
    native.fee,
    native.callType,
    native.methodId,
    native.methodName,
    native.minDelayExcess,
  ]
}

export function erc20Row(prefix: Prefix, entry: Erc20): Row {
  return [
    ...prefix,
    entry.logIndex,
    entry.tokenAddress,
    entry.tokenName,
    entry.tokenSymbol,
    entry.tokenDecimals,
    entry.from.address,
    entry.from.name,
    entry.to.address,
    entry.to.name,
    entry.value,
    shiftDecimal(entry.value, entry.tokenDecimals),
    entry.priceCurrency,
    entry.priceValue,
  ]
}

export function erc721Row(prefix: Prefix, entry: Erc721): Row {
  return [
    ...prefix,
    entry.logIndex,
    entry.tokenAddress,
    entry.tokenName,
    entry.tokenSymbol,
    entry.tokenId,
    entry.tokenUri,
    entry.owner,
    entry.from.address,
    entry.from.name,
    entry.to.address,
    entry.to.name,
    ...metadataCells(entry.metadata),
    entry.attributes,
  ]
}

export function erc1155Row(prefix: Prefix, entry: Erc1155): Row {
  return [
    ...prefix,
    entry.logIndex,
    entry.ordinal,
    entry.tokenAddress,
    entry.tokenId,
    entry.tokenUri,
    entry.from.address,
    entry.from.name,
    entry.to.address,
    entry.to.name,
    entry.value,
    ...metadataCells(entry.metadata),
    entry.metadataDecimals,
    entry.properties,
  ]
}

function metadataCells({ indexStatus, updatedAtMs, texts }: Metadata): Cell[] {
  return [indexStatus, updatedAtMs, ...texts]
}

export function internalRow(prefix: Prefix, entry: Internal, internalId: string): Row {
  return [
    ...prefix,
    internalId,
    entry.type,
    entry.from.address,
    entry.from.name,
    entry.to.address,
    entry.to.name,
    entry.value,
    entry.reverted,
    entry.gasLimit,
    entry.gasUsed,
  ]
}

/** The id of each internal entry of a transaction: a hash of its content and its occurrence (CONTRACT section 2). */
export function internalIds(entries: readonly Internal[]): string[] {
  const occurrences = new Map<string, number>()
  const ids: string[] = []
  for (const { content } of entries) {
    const occurrence = occurrences.get(content) ?? 0
    occurrences.set(content, occurrence + 1)
    ids.push(`${hash('sha256', content).slice(0, 16)}-${occurrence}`)
  }
  return ids
}
