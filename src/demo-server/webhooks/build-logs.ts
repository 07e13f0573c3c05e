import { addressOf, type JsonObject, listOf, objectOf } from '../json.ts'

/**
 * Rebuilds the logs of a transaction from its transfers, by log index. Events other than transfers are unknown. The operator
 * of an ERC-1155 transfer is unknown too, so the sender of the transaction is used. Topics that an event does not have are
 * null. Addresses are in lower case.
 */
export function buildLogs(item: JsonObject): JsonObject[] {
  const { from, blockIndex } = objectOf(item.nativeTransaction)
  const logs = [
    ...listOf(item, 'erc20Transfers').map(logErc20),
    ...listOf(item, 'erc721Transfers').map(logErc721),
    ...groupByLog(listOf(item, 'erc1155Transfers')).map((entries) => logErc1155(entries, from)),
  ]
  return logs
    .sort((a, b) => Number(a.logIndex) - Number(b.logIndex))
    .map((log) => ({ ...log, transactionIndex: blockIndex, removed: false }))
}

/** First topics: Keccak-256 hashes of the event signatures. */
const TRANSFER = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef'
const TRANSFER_SINGLE = '0xc3d58168c5ae7397731d063d5bbf3d657854427343f4c083240f7aacaa2d0f62'
const TRANSFER_BATCH = '0x4a39dc06d4c0dbc64b70af90fd698a233a518aa5d07e595d983b8c0526c8f7fb'

function logErc20({ from, to, value, logIndex, erc20Token }: JsonObject): JsonObject {
  return logOf(erc20Token, [TRANSFER, topicOf(from), topicOf(to), null], [abiWord(value)], logIndex)
}

function logErc721({ from, to, logIndex, erc721Token }: JsonObject): JsonObject {
  const tokenId = `0x${abiWord(objectOf(erc721Token).tokenId)}`
  return logOf(erc721Token, [TRANSFER, topicOf(from), topicOf(to), tokenId], [], logIndex)
}

/** One entry becomes a `TransferSingle`, several a `TransferBatch`. */
function logErc1155(entries: readonly JsonObject[], operator: unknown): JsonObject {
  const { from, to, logIndex, erc1155Token } = objectOf(entries[0])
  const isSingle = entries.length === 1
  const parties = [topicOf(operator), topicOf(from), topicOf(to)]
  const ids = entries.map((entry) => abiWord(objectOf(entry.erc1155Token).tokenId))
  const values = entries.map((entry) => abiWord(entry.value))
  const data = isSingle ? [...ids, ...values] : encodeLists(ids, values)
  return logOf(erc1155Token, [isSingle ? TRANSFER_SINGLE : TRANSFER_BATCH, ...parties], data, logIndex)
}

/** `words` are 32 bytes in hex each. */
function logOf(
  token: unknown,
  [topic0, topic1, topic2, topic3]: readonly (string | null)[],
  words: readonly string[],
  logIndex: unknown,
): JsonObject {
  const address = addressOf(token).toLowerCase()
  return { address, topic0, topic1, topic2, topic3, data: `0x${words.join('')}`, logIndex }
}

/** ABI encoding of two lists: the byte offset of each, then each list preceded by its length. */
function encodeLists(ids: readonly string[], values: readonly string[]): string[] {
  const offsets = [abiWord('64'), abiWord(String(64 + 32 * (ids.length + 1)))]
  return [...offsets, abiWord(String(ids.length)), ...ids, abiWord(String(values.length)), ...values]
}

function groupByLog(entries: readonly JsonObject[]): JsonObject[][] {
  const logs = new Set(entries.map(({ logIndex }) => logIndex))
  return [...logs].map((log) => entries.filter(({ logIndex }) => logIndex === log))
}

function topicOf(party: unknown): string {
  return `0x${addressOf(party).toLowerCase().slice(2).padStart(64, '0')}`
}

/** A whole number as 32 bytes in hex; 0 if the value is not a whole number. */
function abiWord(value: unknown): string {
  const text = String(value)
  return BigInt(/^\d+$/.test(text) ? text : 0)
    .toString(16)
    .padStart(64, '0')
}
