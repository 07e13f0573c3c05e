import { readFileSync } from 'node:fs'
import { gunzipSync } from 'node:zlib'

/**
 * Reference values from the node of the demo chain, read by other methods than the listing (test/fixtures/README.md).
 */
export type NodeData = {
  lastBlock: number
  /** By block number. */
  blockTxCounts: number[]
  membership: Record<string, { items: number; sha256OfHashesInOrder: string }>
  nativeByBlock: Record<string, [block: number, wei: string][]>
  erc20: Record<string, { reconcilable: boolean; checkpoints: Record<string, Record<string, string>> }>
  /** Owner by token id, by contract; null if the token is burned. */
  erc721Owners: Record<string, Record<string, string | null>>
  erc1155: Record<string, Record<string, Record<string, string>>>
}

export const nodeData = JSON.parse(
  gunzipSync(readFileSync(new URL('../fixtures/evm/truth.json.gz', import.meta.url))).toString(),
) as NodeData

/** The 53 wallets of the demo chain, lower case. */
export const demoWallets = Object.keys(nodeData.membership).map((address) => address.toLowerCase())

/**
 * Twelve small wallets of the demo chain: the first six list 570 items with rows in every table, all of them 770. The first
 * one (80 items) has the lowest address of the six, and shares transactions with the next two (two or three pages) and with
 * the seventh.
 */
export const smallWallets = [37, 22, 35, 46, 38, 48, 43, 41, 39, 47, 45, 42].map(
  (at) => demoWallets[at] ?? '',
)
