import type { ChainInfo } from '../chain-info.ts'
import { addressOf, type JsonObject, listOf, objectOf } from '../json.ts'
import { inputOf } from '../listings.ts'
import { buildLogs } from './build-logs.ts'
import type { Webhook } from './registry.ts'

type ChainEvent = {
  /** A transaction with all its lists. */
  readonly item: JsonObject
  /** Gas used in the block up to and including this transaction. */
  readonly cumulativeGasUsed: number
  readonly networkToken: ChainInfo['networkToken']
}

/**
 * Builds the event of a transaction for a webhook: `{transaction, logs?}`. It contains the whole transaction, with parties
 * as plain strings. Values that the chain's items do not contain (input, fee caps, receipt root) are empty strings.
 */
export function buildEvent(
  webhook: Webhook,
  { item, cumulativeGasUsed, networkToken }: ChainEvent,
): JsonObject {
  const native = objectOf(item.nativeTransaction)
  const { name, symbol, decimals } = networkToken
  const transaction = {
    ...describeNative(item, native, cumulativeGasUsed),
    erc20Transfers: listTransfers(item, native, 'erc20'),
    erc721Transfers: listTransfers(item, native, 'erc721'),
    erc1155Transfers: listTransfers(item, native, 'erc1155'),
    ...(webhook.includeInternalTxs ? { internalTransactions: listInternals(item, native) } : {}),
    networkToken: {
      tokenName: name,
      tokenSymbol: symbol,
      tokenDecimals: decimals,
      valueWithDecimals: formatUnits(native.value, decimals),
    },
  }
  return { transaction, ...(webhook.includeLogs ? { logs: buildLogs(item) } : {}) }
}

function describeNative(item: JsonObject, native: JsonObject, cumulativeGasUsed: number): JsonObject {
  const isCreation = objectOf(native.method).callType === 'CONTRACT_CREATION'
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
    ...(isCreation ? { contractAddress: addressOf(native.to) } : {}),
    blockTimestamp: native.blockTimestamp,
  }
}

function listTransfers(
  item: JsonObject,
  { txHash, blockTimestamp }: JsonObject,
  standard: 'erc20' | 'erc721' | 'erc1155',
): JsonObject[] {
  return listOf(item, `${standard}Transfers`).map((transfer) => {
    const token = objectOf(transfer[`${standard}Token`])
    const { address, name = '', symbol = '', decimals = 0, tokenId } = token
    const { from, to, value = '1', logIndex } = transfer
    return {
      transactionHash: txHash,
      type: standard.toUpperCase(),
      from: addressOf(from),
      to: addressOf(to),
      value,
      ...(tokenId === undefined ? {} : { tokenId }),
      blockTimestamp,
      logIndex,
      [`${standard}Token`]: {
        address,
        name,
        symbol,
        decimals,
        valueWithDecimals: formatUnits(value, decimals),
      },
    }
  })
}

/**
 * Addresses of internal transactions are in lower case, unlike those of the rest of an event: the public service does
 * so.
 */
function listInternals(item: JsonObject, { txHash }: JsonObject): JsonObject[] {
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

/** Formats a whole number of smallest units as a plain decimal: `formatUnits('1500', 3)` returns `1.5`. */
export function formatUnits(value: unknown, decimals: unknown): string {
  const text = String(value)
  const decimalPlaces = Number(decimals)
  if (!/^\d+$/.test(text) || !Number.isInteger(decimalPlaces) || decimalPlaces <= 0) return text
  const digits = text.padStart(decimalPlaces + 1, '0')
  const fraction = digits.slice(-decimalPlaces).replace(/0+$/, '')
  return `${digits.slice(0, -decimalPlaces)}${fraction && `.${fraction}`}`
}
