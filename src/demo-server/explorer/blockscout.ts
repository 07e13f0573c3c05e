import { jsonResponse } from '../http-error.ts'
import {
  showBalance,
  showBalanceAtBlock,
  showBalances,
  showBlockAtTime,
  showHead,
  showTokenBalance,
} from './balances.ts'
import type { Dialect, RejectionReason } from './dialect.ts'
import { LISTING_ACTIONS } from './list-account.ts'
import {
  internalFields,
  LISTINGS,
  methodFields,
  nativeFields,
  type RecordSource,
  textOf,
  transactionFields,
  transferBuilders,
  transferFields,
} from './records.ts'

const TRANSFERS = transferBuilders(transferRecord)

/** The API of Blockscout since 9.0.0: of an instance, or of the host for all chains. */
export const BLOCKSCOUT: Dialect = {
  paths: /^(\/(?<chain>\d+))?(\/v2)?\/api(\/v1)?\/?$/,
  requiresChain: false,
  defaultSort: 'desc',
  maxRecords: 10_000,
  maxBlock: 2 ** 31 - 1,
  listsInherited: true,
  listings: LISTINGS,
  records: {
    txlist: (source) => {
      const { functionName: _, ...fields } = nativeFields(source)
      return { ...transactionFields(source), ...fields }
    },
    txlistinternal: (source) => ({
      ...internalFields(source),
      transactionHash: textOf(source.native.txHash).toLowerCase(),
      index: String(source.index + 1),
      input: '0x',
      ...internalTypeOf(source),
    }),
    ...TRANSFERS,
    token1155tx: (source) => ({ ...TRANSFERS.token1155tx(source), tokenDecimal: '' }),
  },
  unprocessedBlocks: 0,
  emptyMessages: {
    txlistinternal: 'No internal transactions found',
    tokentx: 'No token transfers found',
    tokennfttx: 'No token transfers found',
    token1155tx: 'No token transfers found',
  },
  modules: {
    account: {
      ...LISTING_ACTIONS,
      balance: showBalance,
      balancemulti: showBalances({ stale: false }),
      tokenbalance: showTokenBalance,
      eth_get_balance: showBalanceAtBlock,
    },
    block: {
      eth_block_number: showHead,
      getblocknobytime: showBlockAtTime((blockNumber) => ({ blockNumber })),
    },
  },
  reject: (reason) => {
    const { status, message } = ERRORS[reason]
    return jsonResponse(status, { status: '0', message, result: null })
  },
}

/** The method of a transfer has no prefix. */
function transferRecord(source: RecordSource) {
  const method = methodFields(source.native)
  return {
    ...transactionFields(source),
    ...transferFields(source),
    ...method,
    methodId: method.functionName === '' ? '' : method.methodId.slice(2),
  }
}

/** A call has a kind, everything else only a type. */
function internalTypeOf({ entry }: RecordSource) {
  const type = textOf(entry.internalTxType).toLowerCase()
  if (type === 'unknown') return { type: 'selfdestruct', callType: '' }
  return type.startsWith('create') ? { type, callType: '' } : { type: 'call', callType: type }
}

const ERRORS: Readonly<Record<RejectionReason, { status: 200 | 400 | 401 | 404 | 429; message: string }>> = {
  'not-found': { status: 404, message: 'Not found' },
  'unsupported-chain': { status: 404, message: 'Not found' },
  'missing-key': { status: 401, message: 'API key is required' },
  'wrong-key': { status: 401, message: 'Invalid API key' },
  'too-many-requests': {
    status: 429,
    message: 'Too many requests. Increase limits now at https://dev.blockscout.com',
  },
  'unknown-module': { status: 400, message: 'Unknown module' },
  'unknown-action': { status: 400, message: 'Unknown action' },
  'invalid-address': { status: 200, message: 'Invalid address format' },
  'window-too-large': {
    status: 200,
    message: 'Result window is too large, PageNo x Offset size must be less than or equal to 10000',
  },
  'no-block': { status: 200, message: 'Block does not exist' },
  'not-recorded': { status: 200, message: 'The balances of this address are not recorded here' },
}
