import { jsonResponse } from '../http-error.ts'
import { objectOf } from '../json.ts'
import { showBalance, showBalances, showBlockAtTime, showHead, showTokenBalance } from './balances.ts'
import type { Dialect } from './dialect.ts'
import { LISTING_ACTIONS } from './list-account.ts'
import { LISTINGS } from './listings.ts'
import {
  internalFields,
  MOVED_FIELDS,
  methodFields,
  nativeFields,
  type RecordBuilders,
  type RecordSource,
  textOf,
  transactionFields,
  transferFields,
} from './records.ts'
import type { RejectionReason } from './rejection.ts'

/** The API of Etherscan, V2. Internal transactions and transfers have no log index. */
export const ETHERSCAN: Dialect = {
  paths: /^\/(v2\/)?api\/?$/,
  requiresChain: true,
  defaultSort: 'asc',
  maxRecords: 10_000,
  maxBlock: Number.MAX_SAFE_INTEGER,
  listsInherited: false,
  listings: LISTINGS,
  records: recordBuilders(),
  unprocessedBlocks: 0,
  emptyMessages: {
    txlist: 'No transactions found',
    txlistinternal: 'No transactions found',
    tokentx: 'No transactions found',
    tokennfttx: 'No transactions found',
    token1155tx: 'No transactions found',
  },
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
  reject: (reason, { perSecond }) => {
    if (reason === 'not-found') return jsonResponse(404, notOk('Not found'))
    if (reason === 'window-too-large') return jsonResponse(200, { ...notOk(null), message: TOO_LARGE })
    if (reason === 'too-many-requests')
      return jsonResponse(200, notOk(`Max calls per sec rate limit reached (${perSecond}/sec)`))
    return jsonResponse(200, notOk(ERRORS[reason]))
  },
}

function recordBuilders(): RecordBuilders {
  return {
    txlist: (source) => ({ ...transactionFields(source), ...nativeFields(source) }),
    txlistinternal: (source) => ({
      ...internalFields(source),
      hash: textOf(source.native.txHash).toLowerCase(),
      input: '',
      type: internalTypeOf(source),
      traceId: `0_${source.index + 1}`,
    }),
    tokentx: (source) => ({ ...transferRecord(source), ...MOVED_FIELDS.tokentx(source) }),
    tokennfttx: (source) => ({ ...transferRecord(source), ...MOVED_FIELDS.tokennfttx(source) }),
    token1155tx: (source) => ({ ...transferRecord(source), ...MOVED_FIELDS.token1155tx(source) }),
  }
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
  const type = textOf(objectOf(entry).internalTxType)
  return type === 'UNKNOWN' ? 'suicide' : type.toLowerCase()
}

function notOk(result: string | null) {
  return { status: '0', message: 'NOTOK', result }
}

const TOO_LARGE = 'Result window is too large, PageNo x Offset size must be less than or equal to 10000'

const ERRORS: Readonly<
  Record<Exclude<RejectionReason, 'not-found' | 'window-too-large' | 'too-many-requests'>, string>
> = {
  'unsupported-chain':
    'Missing or unsupported chainid parameter (required for v2 api), please see chainlist for the list of supported chainids',
  'missing-key': 'Missing/Invalid API Key',
  'wrong-key': 'Invalid API Key',
  'unknown-module': 'Error! Missing Or invalid Module name',
  'unknown-action': 'Error! Missing Or invalid Action name',
  'invalid-address': 'Error! Invalid address format',
  'no-block': 'Error! No closest block found',
  'not-recorded': 'Error! The balances of this address are not recorded here',
}
