// Deliberately independent of src: transfers and internal calls as CONTRACT section 2 defines them.
import { createHash } from 'node:crypto'
import type { Erc20, Erc721, Erc1155, InternalCall, TransactionEntries } from './chain-types.ts'
import { addressOf, amount, type ExpectedRow, parties, text } from './expected-cells.ts'
import type { FetchedView } from './transaction-versions.ts'

/** Rows of one transaction, without the columns that all its rows share. */
export type Facts = {
  erc20: ExpectedRow[]
  erc721: ExpectedRow[]
  erc1155: ExpectedRow[]
  internal: ExpectedRow[]
}

/** Log indexes of all transfers of a view. */
export const logIndexesOf = ({ erc20, erc721, erc1155 }: TransactionEntries) =>
  new Set([...erc20, ...erc721, ...erc1155].map(({ logIndex }) => logIndex))

/** Each transfer and call once, if any of the views lists it. The views fetched last decide what the transfers of a log are. */
export function factsOf(views: readonly FetchedView[]): Facts {
  const newestVersions = new Map<number, number>()
  for (const { view, version } of views)
    for (const log of logIndexesOf(view))
      newestVersions.set(log, Math.max(version, newestVersions.get(log) ?? 0))
  const listedBy = <T extends { logIndex: number }>(of: (view: TransactionEntries) => readonly T[]): T[] => {
    const entries = views.flatMap(({ view, version }) =>
      of(view).filter(({ logIndex }) => newestVersions.get(logIndex) === version),
    )
    return [...new Set(entries)].sort((a, b) => a.logIndex - b.logIndex)
  }
  const erc1155 = listedBy((view) => view.erc1155)
  return {
    erc20: listedBy((view) => view.erc20).map(erc20Row),
    erc721: listedBy((view) => view.erc721).map(erc721Row),
    erc1155: erc1155.map((entry) => erc1155Row(entry, ordinalOf(entry, erc1155))),
    internal: internalRows(views),
  }
}

/** Position of an entry among those of the same log. */
const ordinalOf = (entry: Erc1155, entries: readonly Erc1155[]) =>
  entries.filter(({ logIndex }) => logIndex === entry.logIndex).indexOf(entry)

function erc20Row(entry: Erc20): ExpectedRow {
  const { address, name, symbol, decimals } = entry.erc20Token
  return {
    transfer_id: String(entry.logIndex),
    log_index: String(entry.logIndex),
    token_address: address,
    token_name: text(name),
    token_symbol: text(symbol),
    token_decimals: decimals === undefined ? null : String(decimals),
    ...parties(entry),
    value: entry.value,
    amount: amount(entry.value, decimals),
    price_currency: null,
    price_value: null,
  }
}

const NO_METADATA = Object.fromEntries(
  [
    'index_status',
    'updated_at',
    'name',
    'symbol',
    'description',
    'image_uri',
    'animation_uri',
    'external_url',
    'background',
  ].map((name) => [`metadata_${name}`, null]),
)

function erc721Row(entry: Erc721): ExpectedRow {
  const { address, name, symbol, tokenId, tokenUri, metadata } = entry.erc721Token
  return {
    transfer_id: String(entry.logIndex),
    log_index: String(entry.logIndex),
    token_address: address,
    token_name: text(name),
    token_symbol: text(symbol),
    token_id: tokenId,
    token_uri: text(tokenUri),
    owner_address: null,
    ...parties(entry),
    ...NO_METADATA,
    metadata_index_status: metadata?.indexStatus ?? null,
    metadata_updated_at:
      metadata === undefined ? null : new Date(metadata.metadataLastUpdatedTimestamp * 1000).toISOString(),
    metadata_name: text(metadata?.name),
    metadata_attributes: text(metadata?.attributes),
  }
}

function erc1155Row(entry: Erc1155, ordinal: number): ExpectedRow {
  const { address, tokenId, tokenUri, metadata } = entry.erc1155Token
  return {
    transfer_id: `${entry.logIndex}.${ordinal}`,
    log_index: String(entry.logIndex),
    transfer_ordinal: String(ordinal),
    token_address: address,
    token_id: tokenId,
    token_uri: text(tokenUri),
    ...parties(entry),
    value: entry.value,
    ...NO_METADATA,
    metadata_index_status: metadata.indexStatus,
    metadata_description: text(metadata.description),
    metadata_decimals: metadata.decimals === undefined ? null : String(metadata.decimals),
    metadata_properties: null,
  }
}

/**
 * In the order of the view with the lowest address, then the calls that only later views list. Calls are matched by content and
 * count. Of the views that list a call, the one fetched last provides its other columns.
 */
function internalRows(views: readonly FetchedView[]): ExpectedRow[] {
  const numbered = views.map(({ view, version }) => ({ version, calls: numberCalls(view.internal) }))
  const newestFirst = [...numbered].sort((a, b) => b.version - a.version)
  const ids = new Set(numbered.flatMap(({ calls }) => [...calls.keys()]))
  return [...ids].map((id) => {
    const call = newestFirst.find(({ calls }) => calls.has(id))?.calls.get(id)
    if (call === undefined) throw new Error(`no view lists ${id}`)
    const { internalTxType, value, isReverted, gasUsed, gasLimit } = call
    return {
      internal_id: id,
      internal_type: internalTxType,
      ...parties(call),
      value,
      reverted: String(isReverted),
      gas_limit: gasLimit,
      gas_used: gasUsed,
    }
  })
}

/** Calls by id: the hash of their content, and their number among the calls with the same content. */
function numberCalls(calls: readonly InternalCall[]): Map<string, InternalCall> {
  const counts = new Map<string, number>()
  return new Map(
    calls.map((call) => {
      const content = JSON.stringify([addressOf(call.from), addressOf(call.to), call.value])
      const digest = createHash('sha256').update(content).digest('hex').slice(0, 16)
      const nth = counts.get(digest) ?? 0
      counts.set(digest, nth + 1)
      return [`${digest}-${nth}`, call]
    }),
  )
}
