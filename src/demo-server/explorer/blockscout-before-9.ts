import { type JsonObject, listOf } from '../json.ts'
import { BLOCKSCOUT } from './blockscout.ts'
import type { Dialect } from './dialect.ts'
import {
  LISTINGS,
  MOVED_FIELDS,
  type RecordSource,
  textOf,
  tokenOf,
  transactionFields,
  transferFields,
} from './records.ts'

const { token1155tx: _, ...ACTIONS } = BLOCKSCOUT.modules.account ?? {}

/**
 * What Blockscout did differently before version 9.0.0: transfers had a log index, `tokentx` listed those of all
 * standards, and there was no listing of ERC-1155 transfers.
 */
export const BLOCKSCOUT_BEFORE_9: Partial<Dialect> = {
  listings: { ...LISTINGS, tokentx: transfersOf },
  records: {
    ...BLOCKSCOUT.records,
    txlist: (source) => {
      const { methodId: _, ...fields } = BLOCKSCOUT.records.txlist(source)
      return fields
    },
    tokentx: (source) => ({ ...transferRecord(source), ...movedFields(source.entry) }),
    tokennfttx: (source) => ({
      ...transferRecord(source),
      ...MOVED_FIELDS.tokennfttx(source),
      input: 'deprecated',
    }),
  },
  modules: { ...BLOCKSCOUT.modules, account: ACTIONS },
}

function transferRecord(source: RecordSource) {
  const { input } = BLOCKSCOUT.records.txlist(source)
  return {
    ...transactionFields(source),
    ...transferFields(source),
    input,
    logIndex: textOf(source.entry.logIndex),
    tokenDecimal: textOf(tokenOf(source.entry).decimals),
  }
}

/** What a transfer of any standard moves. A batch has lists, and also `tokenID` if it moves one token only. */
function movedFields({ value, tokenIds, values, ...entry }: JsonObject): JsonObject {
  if (entry.erc20Token !== undefined) return { value: textOf(value) }
  if (!Array.isArray(tokenIds)) return { tokenID: textOf(tokenOf(entry).tokenId) }
  return { tokenIDs: tokenIds, values, ...(tokenIds.length === 1 ? { tokenID: tokenIds[0] } : {}) }
}

/** The transfers of all standards in the order of their events. */
function transfersOf(item: JsonObject): JsonObject[] {
  const single = [...listOf(item, 'erc20Transfers'), ...listOf(item, 'erc721Transfers')]
  const all = [...single, ...batchesOf(listOf(item, 'erc1155Transfers'))]
  return all.sort((a, b) => Number(a.logIndex) - Number(b.logIndex))
}

/** Unites the entries of an ERC-1155 event, which share a log index. */
function batchesOf(entries: readonly JsonObject[]): JsonObject[] {
  const events = new Set(entries.map(({ logIndex }) => logIndex))
  return [...events].map((event) => {
    const batch = entries.filter(({ logIndex }) => logIndex === event)
    const tokenIds = batch.map((entry) => textOf(tokenOf(entry).tokenId))
    return { ...batch[0], tokenIds, values: batch.map(({ value }) => textOf(value)) }
  })
}
