import { readFileSync } from 'node:fs'
import { gunzipSync } from 'node:zlib'
import { ETHEREUM } from './demo-export.ts'

type Entry = { logIndex: number; value?: string }
export type FullTransaction = {
  nativeTransaction: { txHash: string; txStatus: string; gasUsed: string; gasPrice: string; value: string }
  erc20Transfers: Entry[]
  erc721Transfers: Entry[]
  erc1155Transfers: Entry[]
}

const source = new URL('../../src/demo-server/chains/1/transactions-full.ndjson.gz', import.meta.url)

/** The transactions of two blocks of Ethereum that the embedded server has. */
export const mainnetTransactions = gunzipSync(readFileSync(source))
  .toString()
  .trim()
  .split('\n')
  .map((line) => JSON.parse(line) as FullTransaction)

/** All parties: in one job, their partial views add up to the whole blocks. */
const parties = mainnetTransactions.flatMap(
  (item) => JSON.stringify(item).match(/"address":"(0x[0-9a-fA-F]{40})"/g) ?? [],
)

/** The fields of a job that exports the blocks whole. */
export const MAINNET_BLOCKS = {
  chain: '1',
  addresses: [...new Set(parties.map((match) => match.slice(11, 53).toLowerCase()))],
  startBlock: ETHEREUM.startBlock,
  endBlock: ETHEREUM.endBlock,
  concurrency: 32,
}
