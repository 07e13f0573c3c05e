import { randomUUID } from 'node:crypto'
import { describeChain } from '../chain-info.ts'
import type { Chain } from '../chains.ts'
import { addressesOf } from '../item-views.ts'
import { lowerBound } from '../pages.ts'
import { buildEvent } from './build-event.ts'
import type { Delivery } from './delivery-queue.ts'
import type { Webhook } from './registry.ts'

/**
 * Builds the deliveries of blocks, in chain order: one per webhook and transaction that involves an address watched by the
 * webhook. These are the transactions in the wallet listing of the address.
 */
export async function buildDeliveries(
  chain: Chain,
  blocks: readonly number[],
  webhooks: readonly Webhook[],
): Promise<Delivery[]> {
  if (webhooks.length === 0) return []
  const { items, blockNumbers, cumulativeGasAt } = await chain.items()
  const { networkToken } = describeChain(chain.id)
  return blocks.flatMap((block) => {
    const start = lowerBound(blockNumbers, (number) => number >= block)
    const end = lowerBound(blockNumbers, (number) => number > block)
    return items.slice(start, end).flatMap((item, at) => {
      const cumulativeGasUsed = cumulativeGasAt(start + at)
      const chainEvent = { item, cumulativeGasUsed, networkToken }
      const involved = [...addressesOf(item)]
      return webhooks
        .filter(({ addresses }) => involved.some((address) => addresses.has(address)))
        .map((webhook) => {
          const [webhookId, messageId] = [webhook.id, randomUUID()]
          const event = buildEvent(webhook, chainEvent)
          return {
            webhookId,
            messageId,
            body: { webhookId, eventType: 'address_activity', messageId, event },
          }
        })
    })
  })
}
