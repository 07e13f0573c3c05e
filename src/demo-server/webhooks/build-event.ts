import type { ChainInfo } from '../chain-info.ts'
import { type JsonObject, listOf, objectOf } from '../json.ts'
import { inputOf } from '../show-transaction.ts'
import { buildLogs } from './build-logs.ts'
import { formatUnits } from './format-units.ts'
import type { Webhook } from './webhook.ts'

export type ChainEvent = {
  /** A transaction with all its lists. */
  readonly item: JsonObject
  /** Gas used in the block up to and including this transaction. */
  readonly cumulativeGasUsed: bigint
  readonly networkToken: ChainInfo['networkToken']
}

/**
 * Builds the event of a transaction for a webhook: `{transaction, logs?}`. It contains the whole transaction, with parties
 * as plain strings. Values that the chain's items do not contain (input, fee caps, receipt root) are empty strings.
 */
export function buildEvent(webhook: Webhook, chainEvent: ChainEvent): JsonObject {
  const { item } = chainEvent
  const internals = webhook.includeInternalTxs ? { internalTransactions: listInternals(item) } : {}
  return {
    transaction: {
      ...describeNative(chainEvent),
      ...listTransfers(item),
      ...internals,
      ...networkTokenFields(chainEvent),
    },
    ...(webhook.includeLogs ? { logs: buildLogs(item) } : {}),
  }
}

function describeNative({ item, cumulativeGasUsed }: ChainEvent): JsonObject {
  const native = objectOf(item.nativeTransaction)
  const { callType } = objectOf(native.method)
  return {
    blockHash: native.blockHash,
    blockNumber: native.blockNumber,
    from: addressOf(native.from),
    gas: native.gasLimit,
    gasPrice: native.gasPrice,
    maxFeePerGas: '',
    maxPriorityFeePerGas: '',
    txHash: native.txHash,
    txStatus: native.txStatus,
    input: inputOf(item),
    nonce: native.nonce,
    to: addressOf(native.to),
    transactionIndex: native.blockIndex,
    value: native.value,
    type: native.txType,
    chainId: native.chainId,
    receiptCumulativeGasUsed: String(cumulativeGasUsed),
    receiptGasUsed: native.gasUsed,
    receiptEffectiveGasPrice: native.gasPrice,
    receiptRoot: '',
    ...(callType === 'CONTRACT_CREATION' ? { contractAddress: addressOf(native.to) } : {}),
    blockTimestamp: native.blockTimestamp,
  }
}

function networkTokenFields({ item, networkToken }: ChainEvent): JsonObject {
  const { name, symbol, decimals } = networkToken
  const { value } = objectOf(item.nativeTransaction)
  const valueWithDecimals = formatUnits(value, decimals)
  return {
    networkToken: { tokenName: name, tokenSymbol: symbol, tokenDecimals: decimals, valueWithDecimals },
  }
}

function listTransfers(item: JsonObject): JsonObject {
  return {
    erc20Transfers: listOf(item, 'erc20Transfers').map((transfer) =>
      describeTransfer(item, transfer, 'erc20'),
    ),
    erc721Transfers: listOf(item, 'erc721Transfers').map((transfer) =>
      describeTransfer(item, transfer, 'erc721'),
    ),
    erc1155Transfers: listOf(item, 'erc1155Transfers').map((transfer) =>
      describeTransfer(item, transfer, 'erc1155'),
    ),
  }
}

function describeTransfer(
  item: JsonObject,
  transfer: JsonObject,
  standard: 'erc20' | 'erc721' | 'erc1155',
): JsonObject {
  const { txHash, blockTimestamp } = objectOf(item.nativeTransaction)
  const { address, name = '', symbol = '', decimals = 0, tokenId } = objectOf(transfer[`${standard}Token`])
  const value = transfer.value ?? '1'
  return {
    transactionHash: txHash,
    type: standard.toUpperCase(),
    from: addressOf(transfer.from),
    to: addressOf(transfer.to),
    value,
    ...(tokenId === undefined ? {} : { tokenId }),
    blockTimestamp,
    logIndex: transfer.logIndex,
    [`${standard}Token`]: {
      address,
      name,
      symbol,
      decimals,
      valueWithDecimals: formatUnits(value, decimals),
    },
  }
}

/**
 * Addresses of internal transactions are in lower case, unlike those of the rest of an event: the public service does
 * so.
 */
function listInternals(item: JsonObject): JsonObject[] {
  const { txHash } = objectOf(item.nativeTransaction)
  return listOf(item, 'internalTransactions').map((entry) => ({
    from: addressOf(entry.from).toLowerCase(),
    to: addressOf(entry.to).toLowerCase(),
    internalTxType: entry.internalTxType,
    value: entry.value,
    gasUsed: entry.gasUsed,
    gasLimit: entry.gasLimit,
    transactionHash: txHash,
  }))
}

function addressOf(party: unknown): string {
  return String(objectOf(party).address ?? '')
}
