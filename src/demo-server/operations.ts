import { listAtomic } from './atomic.ts'
import { listErc20Balances, listErc721Balances, listErc1155Balances, showNativeBalance } from './balances.ts'
import { listChains, showChain } from './chain-info.ts'
import { listBlock, listInternals, listWallet, showTransaction } from './listings.ts'
import type { Operation } from './operation.ts'
import {
  addAddresses,
  createWebhook,
  deactivateWebhook,
  listAddresses,
  listWebhooks,
  removeAddresses,
  rotateSecret,
  showSecret,
  showWebhook,
  updateWebhook,
} from './webhooks/webhook-operations.ts'

const PAGE_PARAMETERS = ['pageToken', 'pageSize 1-100']
const WALLET_PARAMETERS = [...PAGE_PARAMETERS, 'startBlock', 'endBlock (exclusive)', 'sortOrder asc|desc']

/**
 * Every operation of the service (section 4 of the interface, and the ones that it only mentions). The routes, the index
 * page and the compute units are derived from this table; README.md in this folder lists the same operations.
 */
export const OPERATIONS = {
  listChains: { method: 'GET', path: '/v1/chains', takes: ['network', 'feature'], units: 1, run: listChains },
  showChain: { method: 'GET', path: '/v1/chains/{chainId}', takes: [], units: 1, run: showChain },
  listWallet: {
    method: 'GET',
    path: '/v1/chains/{chainId}/addresses/{address}/transactions',
    takes: WALLET_PARAMETERS,
    run: listWallet,
  },
  listInternals: {
    method: 'GET',
    path: '/v1/chains/{chainId}/addresses/{address}/transactions:listInternals',
    takes: WALLET_PARAMETERS,
    run: listInternals,
  },
  listBlock: {
    method: 'GET',
    path: '/v1/chains/{chainId}/blocks/{blockId}/transactions',
    takes: ['pageToken', 'pageSize 0-100'],
    run: listBlock,
  },
  showTransaction: {
    method: 'GET',
    path: '/v1/chains/{chainId}/transactions/{txHash}',
    takes: [],
    run: showTransaction,
  },
  listAtomic: {
    method: 'GET',
    path: '/v1/networks/{network}/blockchains/{blockchainId}/transactions',
    takes: ['addresses', 'startTimestamp', 'endTimestamp', ...PAGE_PARAMETERS, 'sortOrder asc|desc'],
    run: listAtomic,
  },
  showNativeBalance: {
    method: 'GET',
    path: '/v1/chains/{chainId}/addresses/{address}/balances:getNative',
    takes: ['blockNumber'],
    run: showNativeBalance,
  },
  listErc20Balances: {
    method: 'GET',
    path: '/v1/chains/{chainId}/addresses/{address}/balances:listErc20',
    takes: ['blockNumber', 'contractAddresses', ...PAGE_PARAMETERS],
    run: listErc20Balances,
  },
  listErc1155Balances: {
    method: 'GET',
    path: '/v1/chains/{chainId}/addresses/{address}/balances:listErc1155',
    takes: ['blockNumber', ...PAGE_PARAMETERS],
    run: listErc1155Balances,
  },
  listErc721Balances: {
    method: 'GET',
    path: '/v1/chains/{chainId}/addresses/{address}/balances:listErc721',
    takes: PAGE_PARAMETERS,
    run: listErc721Balances,
  },
  reindexToken: {
    method: 'POST',
    path: '/v1/chains/{chainId}/nfts/collections/{address}/tokens/{tokenId}:reindex',
    takes: [],
    units: 10,
    status: 201,
    run: ({ path }, { chains, reindexer }) => reindexer.reindex(chains.get(path.chainId), path),
  },
  createWebhook: {
    method: 'POST',
    path: '/v1/webhooks',
    takes: ['a webhook: eventType, url, chainId, metadata.addresses, …'],
    status: 201,
    run: createWebhook,
  },
  listWebhooks: {
    method: 'GET',
    path: '/v1/webhooks',
    takes: [...PAGE_PARAMETERS, 'status active|inactive'],
    units: 10,
    run: listWebhooks,
  },
  showWebhook: { method: 'GET', path: '/v1/webhooks/{id}', takes: [], units: 10, run: showWebhook },
  updateWebhook: {
    method: 'PATCH',
    path: '/v1/webhooks/{id}',
    takes: ['any of name, description, url, status, includeInternalTxs, includeLogs'],
    run: updateWebhook,
  },
  deactivateWebhook: { method: 'DELETE', path: '/v1/webhooks/{id}', takes: [], run: deactivateWebhook },
  listAddresses: {
    method: 'GET',
    path: '/v1/webhooks/{id}/addresses',
    takes: PAGE_PARAMETERS,
    units: 10,
    run: listAddresses,
  },
  addAddresses: {
    method: 'PATCH',
    path: '/v1/webhooks/{id}/addresses',
    takes: ['addresses'],
    run: addAddresses,
  },
  removeAddresses: {
    method: 'DELETE',
    path: '/v1/webhooks/{id}/addresses',
    takes: ['addresses'],
    run: removeAddresses,
  },
  rotateSecret: {
    method: 'POST',
    path: '/v1/webhooks:generateOrRotateSharedSecret',
    takes: [],
    status: 201,
    run: rotateSecret,
  },
  showSecret: { method: 'GET', path: '/v1/webhooks:getSharedSecret', takes: [], units: 10, run: showSecret },
} as const satisfies Record<string, OperationRow>

export type OperationRow = {
  readonly method: 'GET' | 'POST' | 'PATCH' | 'DELETE'
  /** A name in braces matches any non-empty text. */
  readonly path: string
  /** Descriptions of the query parameters or of the body, for the index page. */
  readonly takes: readonly string[]
  /** Compute units. @default 20 */
  readonly units?: number
  /** Status of the response. @default 200 */
  readonly status?: number
  readonly run: Operation
}
