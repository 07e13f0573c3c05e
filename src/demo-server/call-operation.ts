import {
  listErc20Balances,
  listErc721Balances,
  listErc1155Balances,
  showNativeBalance,
} from './balances/balance-operations.ts'
import { describeChain } from './chain-info.ts'
import type { DataServiceOptions, ServiceResponse } from './data-service.ts'
import { jsonResponse } from './http-error.ts'
import { atomicChainOf, listAtomic } from './list-atomic.ts'
import { listBlock } from './list-block.ts'
import { listChains } from './list-chains.ts'
import { listInternals } from './list-internals.ts'
import { listWallet } from './list-wallet.ts'
import { createReindexer } from './nft/reindexer.ts'
import type { Chains } from './open-chains.ts'
import type { OperationName } from './operations.ts'
import { createOffsetTokens, createPageTokens } from './page-tokens.ts'
import type { Call } from './route.ts'
import { showTransaction } from './show-transaction.ts'
import type { Registry } from './webhooks/registry.ts'
import { createWebhookOperations } from './webhooks/webhook-operations.ts'

/** Runs an operation on behalf of the API key with this index. Throws `HttpError` if the request is rejected. */
export type CallOperation = (call: Call, key: number) => Promise<ServiceResponse>

export function createCallOperation(
  options: DataServiceOptions,
  { chains, registry }: { chains: Chains; registry: Registry },
): CallOperation {
  const reindexer = createReindexer(options)
  const quirks = new Set(options.quirks)
  const tokens = quirks.has('offset-tokens') ? createOffsetTokens() : createPageTokens()
  const contextFor = ({ path }: Call) => {
    const chain = chains.get(path.chainId)
    return { chain, tokens, quirks, refreshMetadata: reindexer.refreshMetadata(chain.id) }
  }
  const operations: Record<
    OperationName,
    (call: Call, key: number) => ServiceResponse | Promise<ServiceResponse>
  > = {
    listChains: (call) => jsonResponse(200, listChains(call, chains.ids)),
    showChain: ({ path }) => jsonResponse(200, describeChain(chains.get(path.chainId).id)),
    listWallet: async (call) => jsonResponse(200, await listWallet(call, contextFor(call))),
    listInternals: async (call) => jsonResponse(200, await listInternals(call, contextFor(call))),
    listBlock: async (call) => jsonResponse(200, await listBlock(call, contextFor(call))),
    showTransaction: async (call) => jsonResponse(200, await showTransaction(call, contextFor(call))),
    listAtomic: async (call) => {
      const chain = atomicChainOf(call, chains)
      return jsonResponse(200, await listAtomic(call, { chain, tokens, quirks }))
    },
    showNativeBalance: (call) => showNativeBalance(call, contextFor(call)),
    listErc20Balances: (call) => listErc20Balances(call, contextFor(call)),
    listErc1155Balances: (call) => listErc1155Balances(call, contextFor(call)),
    listErc721Balances: (call) => listErc721Balances(call, contextFor(call)),
    async reindexToken(call) {
      await reindexer.reindex(call, chains.get(call.path.chainId))
      return { status: 201, headers: {}, body: '' }
    },
    ...createWebhookOperations(options, { registry, tokens, chainIds: chains.ids }),
  }
  return async (call, key) => operations[call.operation](call, key)
}
