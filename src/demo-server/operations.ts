/**
 * Every operation of the service (section 4 of the interface, and the ones that it only mentions). The routes and the index
 * page are derived from this table; README.md in this folder lists the same operations.
 */
export const OPERATIONS = {
  listChains: { method: 'GET', path: '/v1/chains', takes: ['network', 'feature'] },
  showChain: { method: 'GET', path: '/v1/chains/{chainId}', takes: [] },
  listWallet: {
    method: 'GET',
    path: '/v1/chains/{chainId}/addresses/{address}/transactions',
    takes: ['pageToken', 'pageSize 1-100', 'startBlock', 'endBlock (exclusive)', 'sortOrder asc|desc'],
  },
  listInternals: {
    method: 'GET',
    path: '/v1/chains/{chainId}/addresses/{address}/transactions:listInternals',
    takes: ['pageToken', 'pageSize 1-100', 'startBlock', 'endBlock (exclusive)', 'sortOrder asc|desc'],
  },
  listBlock: {
    method: 'GET',
    path: '/v1/chains/{chainId}/blocks/{blockId}/transactions',
    takes: ['pageToken', 'pageSize 0-100'],
  },
  showTransaction: { method: 'GET', path: '/v1/chains/{chainId}/transactions/{txHash}', takes: [] },
  listAtomic: {
    method: 'GET',
    path: '/v1/networks/{network}/blockchains/{blockchainId}/transactions',
    takes: [
      'addresses',
      'startTimestamp',
      'endTimestamp',
      'pageToken',
      'pageSize 1-100',
      'sortOrder asc|desc',
    ],
  },
  showNativeBalance: {
    method: 'GET',
    path: '/v1/chains/{chainId}/addresses/{address}/balances:getNative',
    takes: ['blockNumber'],
  },
  listErc20Balances: {
    method: 'GET',
    path: '/v1/chains/{chainId}/addresses/{address}/balances:listErc20',
    takes: ['blockNumber', 'contractAddresses', 'pageToken', 'pageSize 1-100'],
  },
  listErc1155Balances: {
    method: 'GET',
    path: '/v1/chains/{chainId}/addresses/{address}/balances:listErc1155',
    takes: ['blockNumber', 'pageToken', 'pageSize 1-100'],
  },
  listErc721Balances: {
    method: 'GET',
    path: '/v1/chains/{chainId}/addresses/{address}/balances:listErc721',
    takes: ['pageToken', 'pageSize 1-100'],
  },
  reindexToken: {
    method: 'POST',
    path: '/v1/chains/{chainId}/nfts/collections/{address}/tokens/{tokenId}:reindex',
    takes: [],
  },
  createWebhook: {
    method: 'POST',
    path: '/v1/webhooks',
    takes: ['a webhook: eventType, url, chainId, metadata.addresses, …'],
  },
  listWebhooks: {
    method: 'GET',
    path: '/v1/webhooks',
    takes: ['pageToken', 'pageSize 1-100', 'status active|inactive'],
  },
  showWebhook: { method: 'GET', path: '/v1/webhooks/{id}', takes: [] },
  updateWebhook: {
    method: 'PATCH',
    path: '/v1/webhooks/{id}',
    takes: ['any of name, description, url, status, includeInternalTxs, includeLogs'],
  },
  deactivateWebhook: { method: 'DELETE', path: '/v1/webhooks/{id}', takes: [] },
  listAddresses: {
    method: 'GET',
    path: '/v1/webhooks/{id}/addresses',
    takes: ['pageToken', 'pageSize 1-100'],
  },
  addAddresses: { method: 'PATCH', path: '/v1/webhooks/{id}/addresses', takes: ['addresses'] },
  removeAddresses: { method: 'DELETE', path: '/v1/webhooks/{id}/addresses', takes: ['addresses'] },
  rotateSecret: { method: 'POST', path: '/v1/webhooks:generateOrRotateSharedSecret', takes: [] },
  showSecret: { method: 'GET', path: '/v1/webhooks:getSharedSecret', takes: [] },
} as const satisfies Record<string, Operation>

export type OperationName = keyof typeof OPERATIONS

type Operation = {
  readonly method: 'GET' | 'POST' | 'PATCH' | 'DELETE'
  /** A name in braces matches any non-empty text. */
  readonly path: string
  /** Descriptions of the query parameters or of the body, for the index page. */
  readonly takes: readonly string[]
}
