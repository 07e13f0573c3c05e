import { jsonResponse } from '../http-error.ts'
import { showBalance, showBalances, showBlockAtTime, showHead, showTokenBalance } from './balances.ts'
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

/** The API of Etherscan, V2. Internal transactions and transfers have no log index. */
export const ETHERSCAN: Dialect = {
  paths: /^\/(v2\/)?api\/?$/,
  requiresChain: true,
  defaultSort: 'asc',
  maxRecords: 10_000,
  maxBlock: Number.MAX_SAFE_INTEGER,
  listsInherited: false,
  listings: LISTINGS,
  records: {
    txlist: (source) => ({ ...transactionFields(source), ...nativeFields(source) }),
    txlistinternal: (source) => ({
      ...internalFields(source),
      hash: textOf(source.native.txHash).toLowerCase(),
      input: '',
      type: internalTypeOf(source),
      traceId: `0_${source.index + 1}`,
    }),
    ...transferBuilders(transferRecord),
  },
  unprocessedBlocks: 0,
  emptyMessages: {},
  modules: {
    account: {
      ...LISTING_ACTIONS,
      balance: showBalance,
      balancemulti: showBalances(),
      tokenbalance: showTokenBalance,
    },
    proxy: { eth_blockNumber: showHead },
    block: { getblocknobytime: showBlockAtTime((block) => block) },
  },
  reject: (reason, perSecond) => {
    const text = reason === 'too-many-requests' ? `${ERRORS[reason]} (${perSecond}/sec)` : ERRORS[reason]
    if (reason === 'window-too-large') return jsonResponse(200, { status: '0', message: text, result: null })
    return jsonResponse(reason === 'not-found' ? 404 : 200, { status: '0', message: 'NOTOK', result: text })
  },
}

function transferRecord(source: RecordSource) {
  return {
    ...transactionFields(source),
    ...transferFields(source),
    ...methodFields(source.native),
    input: 'deprecated',
  }
}

function internalTypeOf({ entry }: RecordSource): string {
  const type = textOf(entry.internalTxType)
  return type === 'UNKNOWN' ? 'suicide' : type.toLowerCase()
}

const ERRORS: Readonly<Record<RejectionReason, string>> = {
  'not-found': 'Not found',
  'unsupported-chain':
    'Missing or unsupported chainid parameter (required for v2 api), please see chainlist for the list of supported chainids',
  'missing-key': 'Missing/Invalid API Key',
  'wrong-key': 'Invalid API Key',
  'too-many-requests': 'Max calls per sec rate limit reached',
  'unknown-module': 'Error! Missing Or invalid Module name',
  'unknown-action': 'Error! Missing Or invalid Action name',
  'invalid-address': 'Error! Invalid address format',
  'window-too-large': 'Result window is too large, PageNo x Offset size must be less than or equal to 10000',
  'no-block': 'Error! No closest block found',
  'not-recorded': 'Error! The balances of this address are not recorded here',
}
