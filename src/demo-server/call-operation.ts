import { describeChain } from './chain-info.ts'
import type { DataServiceOptions, ServiceAnswer } from './data-service.ts'
import { answerJson } from './http-error.ts'
import { listBlock } from './list-block.ts'
import { listChains } from './list-chains.ts'
import { listWallet } from './list-wallet.ts'
import { createReindexer } from './nft/reindexer.ts'
import type { Chains } from './open-chains.ts'
import type { OperationName } from './operations.ts'
import { createPageTokens } from './page-tokens.ts'
import type { Call } from './route.ts'
import { showTransaction } from './show-transaction.ts'
import type { Registry } from './webhooks/registry.ts'
import { createWebhookOperations } from './webhooks/webhook-operations.ts'

/** Answers a call with the rights of a key, by its number; throws refusals. */
export type Operate = (call: Call, key: number) => Promise<ServiceAnswer>

export function createOperations(
  options: DataServiceOptions,
  { chains, registry }: { chains: Chains; registry: Registry },
): Operate {
  const tokens = createPageTokens()
  const reindexer = createReindexer(options)
  const toolsFor = ({ path }: Call) => {
    const chain = chains.named(path.chainId)
    return { chain, tokens, freshen: reindexer.freshen(chain.id) }
  }
  const operations: Record<
    OperationName,
    (call: Call, key: number) => ServiceAnswer | Promise<ServiceAnswer>
  > = {
    listChains: (call) => answerJson(200, listChains(call, chains.ids)),
    showChain: ({ path }) => answerJson(200, describeChain(chains.named(path.chainId).id)),
    listWallet: async (call) => answerJson(200, await listWallet(call, toolsFor(call))),
    listBlock: async (call) => answerJson(200, await listBlock(call, toolsFor(call))),
    showTransaction: async (call) => answerJson(200, await showTransaction(call, toolsFor(call))),
    async reindexToken(call) {
      await reindexer.reindex(call, chains.named(call.path.chainId))
      return { status: 201, headers: {}, body: '' }
    },
    ...createWebhookOperations(options, { registry, tokens, chainIds: chains.ids }),
  }
  return async (call, key) => operations[call.operation](call, key)
}
