import { addressOf, type JsonObject, listOf, objectOf } from '../json.ts'

/** The five listings of an account, and the records that each takes from a transaction. */
export const LISTINGS = {
  txlist: (item) => [objectOf(item.nativeTransaction)],
  txlistinternal: (item) => listOf(item, 'internalTransactions'),
  tokentx: (item) => listOf(item, 'erc20Transfers'),
  tokennfttx: (item) => listOf(item, 'erc721Transfers'),
  token1155tx: (item) => listOf(item, 'erc1155Transfers'),
} as const satisfies Record<string, (item: JsonObject) => readonly JsonObject[]>

export type ListingName = keyof typeof LISTINGS

/** The token of a transfer; an empty object for other records. */
export function tokenOf(entry: JsonObject): JsonObject {
  return objectOf(entry.erc20Token ?? entry.erc721Token ?? entry.erc1155Token)
}

/** A record of a listing with everything that its fields are taken from. */
export type RecordSource = {
  readonly native: JsonObject
  /** The internal transaction or transfer; the transaction itself in `txlist`. */
  readonly entry: JsonObject
  /** Position in the list of the transaction. */
  readonly index: number
  readonly cumulativeGas: number
  readonly head: number
}

/** Builds the record of each listing. All values are texts, as explorers return them. */
export type RecordBuilders = Readonly<Record<ListingName, (source: RecordSource) => JsonObject>>

/** The text of a value; empty if it is absent. */
export function textOf(value: unknown): string {
  return value === undefined || value === null ? '' : String(value)
}

/** The fields that `txlist` and the lists of transfers share, except for parties and input. */
export function transactionFields({ native, cumulativeGas, head }: RecordSource) {
  return {
    blockNumber: textOf(native.blockNumber),
    timeStamp: textOf(native.blockTimestamp),
    hash: textOf(native.txHash).toLowerCase(),
    nonce: textOf(native.nonce),
    blockHash: textOf(native.blockHash).toLowerCase(),
    transactionIndex: textOf(native.blockIndex),
    gas: textOf(native.gasLimit),
    gasPrice: textOf(native.gasPrice),
    gasUsed: textOf(native.gasUsed),
    cumulativeGasUsed: String(cumulativeGas),
    confirmations: String(Math.max(0, head - Number(native.blockNumber))),
  }
}

/** Sender, receiver and created contract. The receiver of a creation is empty. */
function partyFields(entry: JsonObject, isCreation: boolean) {
  const to = addressOf(entry.to).toLowerCase()
  return {
    from: addressOf(entry.from).toLowerCase(),
    to: isCreation ? '' : to,
    contractAddress: isCreation ? to : '',
  }
}

/** Parties, value, outcome and method of a transaction. */
export function nativeFields({ native }: RecordSource) {
  const isCreation = isCreationOf(native)
  const succeeded = textOf(native.txStatus) === '1'
  return {
    ...partyFields(native, isCreation),
    value: textOf(native.value),
    isError: succeeded ? '0' : '1',
    txreceipt_status: succeeded ? '1' : '0',
    ...methodFields(native),
  }
}

/**
 * The input, cut after the selector because the recorded chains do not contain it, and what explorers derive from it. A
 * creation has the first bytes of the code that Solidity generates.
 */
export function methodFields(native: JsonObject) {
  const { methodHash, methodName } = objectOf(native.method)
  const selector = isCreationOf(native) ? CREATION_CODE : textOf(methodHash) || '0x'
  const isCall = textOf(methodHash) !== ''
  return { input: selector, methodId: selector, functionName: isCall ? textOf(methodName) : '' }
}

const CREATION_CODE = '0x60806040'

function isCreationOf(native: JsonObject): boolean {
  return objectOf(native.method).callType === 'CONTRACT_CREATION'
}

/** Parties, value, outcome and gas of an internal transaction. */
export function internalFields({ native, entry }: RecordSource) {
  const isCreation = textOf(entry.internalTxType).startsWith('CREATE')
  return {
    blockNumber: textOf(native.blockNumber),
    timeStamp: textOf(native.blockTimestamp),
    ...partyFields(entry, isCreation),
    value: textOf(entry.value),
    gas: textOf(entry.gasLimit) || '0',
    gasUsed: textOf(entry.gasUsed) || '0',
    isError: entry.isReverted === true ? '1' : '0',
    errCode: entry.isReverted === true ? 'execution reverted' : '',
  }
}

/** Parties and token of a transfer. */
export function transferFields({ entry }: RecordSource) {
  const token = tokenOf(entry)
  return {
    from: addressOf(entry.from).toLowerCase(),
    contractAddress: addressOf(token).toLowerCase(),
    to: addressOf(entry.to).toLowerCase(),
    tokenName: textOf(token.name),
    tokenSymbol: textOf(token.symbol),
  }
}

/** The builders of transfers: what all have in common, and what each moves. */
export function transferBuilders(commonFields: (source: RecordSource) => JsonObject) {
  return {
    tokentx: (source) => ({ ...commonFields(source), ...MOVED_FIELDS.tokentx(source) }),
    tokennfttx: (source) => ({ ...commonFields(source), ...MOVED_FIELDS.tokennfttx(source) }),
    token1155tx: (source) => ({ ...commonFields(source), ...MOVED_FIELDS.token1155tx(source) }),
  } satisfies Partial<RecordBuilders>
}

/** What a transfer moves, by listing. ERC-721 transfers have no value. */
export const MOVED_FIELDS = {
  tokentx: ({ entry }: RecordSource) => ({
    value: textOf(entry.value),
    tokenDecimal: textOf(tokenOf(entry).decimals),
  }),
  tokennfttx: ({ entry }: RecordSource) => ({ tokenID: textOf(tokenOf(entry).tokenId), tokenDecimal: '0' }),
  token1155tx: ({ entry }: RecordSource) => ({
    tokenID: textOf(tokenOf(entry).tokenId),
    tokenValue: textOf(entry.value),
  }),
}
