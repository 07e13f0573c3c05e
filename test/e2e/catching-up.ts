// A service that indexes blocks while a run reads it, as the Data API or as an explorer. It shares no code with the program.
import { createHash } from 'node:crypto'
import type { ServiceResponse } from '../../src/demo-server/data-service.ts'
import { type Loopback, startLoopback } from '../helpers/loopback.ts'
import { startSmallListing } from '../helpers/small-listing.ts'

type Received = { block: number; to: string; timeMs: number }

/** The state of the service, which a test may change at any time. */
export type Indexed = {
  transfers: readonly Received[]
  /** The newest indexed block after a number of answers for wallets. */
  headAfter: (answers: number) => number
  /** Seconds that the clock of the service is ahead of this machine's. */
  aheadSeconds?: number
  /** Blocks by which an explorer's listing of token transfers is behind its other listings. @default 0 */
  tokensBehind?: number
}

export type CatchingUpApi = 'data-api' | 'etherscan' | 'blockscout'

export const walletAt = (index: number): string => `0x1${String(index + 1).padStart(39, '0')}`

/** One transfer in every block from 1 on, to the wallets in turn. */
export const inTurn = (
  count: number,
  { wallets, startMs, blockMs }: { wallets: number; startMs: number; blockMs: number },
) =>
  Array.from({ length: count }, (_, at) => ({
    block: at + 1,
    to: walletAt((at * 7) % wallets),
    timeMs: startMs + at * blockMs,
  }))

/** Serves the transfers up to the indexed head. */
export async function startCatchingUp(indexed: Indexed, api: CatchingUpApi): Promise<Loopback> {
  let answers = 0
  const current = (behind = 0) => {
    const head = indexed.headAfter(answers) - behind
    answers += 1
    return indexed.transfers.filter(({ block }) => block <= head)
  }
  if (api !== 'data-api') return startExplorer(indexed, current)
  return startSmallListing({
    get transfers() {
      return current()
    },
  })
}

const hash = (text: string) => `0x${createHash('sha256').update(text).digest('hex')}`

/** Every transfer of the coin is one of a token too. */
function startExplorer(
  indexed: Indexed,
  current: (behind?: number) => readonly Received[],
): Promise<Loopback> {
  const handle = async ({ url }: { url: string }): Promise<ServiceResponse> => {
    const query = new URL(url, 'http://loopback').searchParams
    const action = query.get('action')
    const indexedNow = current(action === 'tokentx' ? indexed.tokensBehind : 0)
    const toRecord = action === 'txlist' ? coinRecord : action === 'tokentx' ? tokenRecord : undefined
    const records: readonly object[] =
      toRecord === undefined ? [] : listed(indexedNow, query).map((received) => toRecord(received))
    const date = new Date(Date.now() + (indexed.aheadSeconds ?? 0) * 1000).toUTCString()
    return {
      status: 200,
      headers: { 'content-type': 'application/json', date },
      body: JSON.stringify(
        records.length === 0
          ? { status: '0', message: 'No transactions found', result: [] }
          : { status: '1', message: 'OK', result: records },
      ),
    }
  }
  return startLoopback({ handle })
}

function listed(transfers: readonly Received[], query: URLSearchParams): readonly Received[] {
  const [from, to] = [
    Number(query.get('startblock')),
    Number(query.get('endblock') ?? Number.MAX_SAFE_INTEGER),
  ]
  const sign = query.get('sort') === 'desc' ? -1 : 1
  const address = query.get('address') ?? ''
  const all = transfers.filter((one) => one.to === address && one.block >= from && one.block <= to)
  const [page, offset] = [Number(query.get('page')), Number(query.get('offset'))]
  return [...all].sort((a, b) => sign * (a.block - b.block)).slice((page - 1) * offset, page * offset)
}

/** The fields that records of both listings share. */
const commonFields = ({ block, to, timeMs }: Received) => ({
  blockNumber: String(block),
  blockHash: hash(`block ${block}`),
  timeStamp: String(Math.floor(timeMs / 1000)),
  hash: hash(`${block} ${to}`),
  transactionIndex: '0',
  nonce: '0',
  from: `0x${'9'.repeat(40)}`,
  to,
  gas: '21000',
  gasPrice: '25000000000',
  gasUsed: '21000',
  input: '0x',
})

const coinRecord = (received: Received) => ({
  ...commonFields(received),
  value: '1000',
  methodId: '0x',
  functionName: '',
  contractAddress: '',
  txreceipt_status: '1',
  isError: '0',
})

const tokenRecord = (received: Received) => ({
  ...commonFields(received),
  logIndex: '0',
  value: '7',
  contractAddress: `0x${'7'.repeat(40)}`,
  tokenName: 'Seven',
  tokenSymbol: 'SEV',
  tokenDecimal: '0',
})
