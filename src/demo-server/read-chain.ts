import { readFile } from 'node:fs/promises'
import { promisify } from 'node:util'
import { gunzip } from 'node:zlib'
import { ExportError } from '../core/model/errors.ts'
import { PACKAGE } from '../core/model/version.ts'
import type { ChainState } from './balances/chain-state.ts'
import type { Block } from './chain.ts'
import type { JsonObject } from './json.ts'

/** Reads every transaction of an embedded chain, with all its lists, in chain order. */
export function readTransactions(chain: string): Promise<JsonObject[]> {
  return readLines<JsonObject>(`${chain}/transactions-full.ndjson.gz`)
}

/** Reads every block of an embedded chain, including empty ones, in chain order. */
export async function readBlocks(chain: string): Promise<Block[]> {
  const lines = await readLines<BlockLine>(`${chain}/blocks.ndjson.gz`)
  return lines.map(({ blockNumber, blockHash, transactions }) => ({
    number: Number(blockNumber),
    hash: blockHash,
    transactions,
  }))
}

/** Reads the recorded balances of an embedded chain. */
export async function readState(chain: string): Promise<ChainState> {
  const [state] = await readLines<ChainState>(`${chain}/state.json.gz`)
  if (state === undefined) throw new ExportError('BUG', `${chain}/state.json.gz is empty`)
  return state
}

/** Reads the atomic transactions of an embedded chain, in chain order. */
export function readAtomicTransactions(chain: string): Promise<JsonObject[]> {
  return readLines<JsonObject>(`${chain}/atomic.ndjson.gz`)
}

type BlockLine = { blockNumber: string; blockHash: string; transactions: JsonObject[] }

/** The build does not copy the chains, so they are read from `src` of the package. */
const CHAINS_FOLDER = new URL('src/demo-server/chains/', PACKAGE)

async function readLines<Line>(name: string): Promise<Line[]> {
  const text = (await promisify(gunzip)(await readFile(new URL(name, CHAINS_FOLDER)))).toString('utf8')
  return text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as Line)
}
