/** The query parameter that carries the API key. */
export const API_KEY_PARAMETER = 'apikey'

/** What differs between the explorers that speak this API. */
export type Dialect = {
  /** Path below a base URL that does not name it. */
  path: string
  /** Whether `tokentx` lists all standards, and `token1155tx` is missing, in some versions. */
  mayListErc1155InTokentx: boolean
  /** Whether a transfer from a wallet to itself may be listed twice, once for each party. */
  mayListSelfTransfersTwice: boolean
  /** Whether the listed gas used and gas price can differ from those of the receipt. */
  mayMisstateGas: boolean
  /** The newest block: module and action, with an answer in the shape of JSON-RPC. */
  head: { module: string; action: string }
  /** The balance of the native coin at a block, if the API has it, with an answer in the shape of JSON-RPC. */
  balanceAtBlock?: { module: string; action: string }
}

export const ETHERSCAN: Dialect = {
  path: '/v2/api',
  mayListErc1155InTokentx: false,
  mayListSelfTransfersTwice: true,
  mayMisstateGas: false,
  head: { module: 'proxy', action: 'eth_blockNumber' },
}

export const BLOCKSCOUT: Dialect = {
  path: '/api',
  mayListErc1155InTokentx: true,
  mayListSelfTransfersTwice: false,
  mayMisstateGas: true,
  head: { module: 'block', action: 'eth_block_number' },
  balanceAtBlock: { module: 'account', action: 'eth_get_balance' },
}
