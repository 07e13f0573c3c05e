import { randomUUID } from 'node:crypto'
import type { Chain, ChainItems } from '../chain.ts'
import { describeChain } from '../chain-info.ts'
import { type JsonObject, objectOf } from '../json.ts'
import { lowerBound } from '../lower-bound.ts'
import { addressesOf } from '../wallet-view.ts'
import { buildEvent, type ChainEvent } from './build-event.ts'
import type { Delivery } from './delivery-queue.ts'
import type { Webhook } from './webhook.ts'

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
  const chainItems = await chain.items()
  const { networkToken } = describeChain(chain.id)
  return blocks.flatMap((block) =>
    buildBlockDeliveries(itemsOf(chainItems, block), { networkToken, webhooks }),
  )
}

type DeliveryTargets = Pick<ChainEvent, 'networkToken'> & { readonly webhooks: readonly Webhook[] }

function buildBlockDeliveries(
  items: readonly JsonObject[],
  { networkToken, webhooks }: DeliveryTargets,
): Delivery[] {
  let cumulativeGasUsed = 0n
  return items.flatMap((item) => {
    cumulativeGasUsed += gasUsedBy(item)
    const chainEvent = { item, cumulativeGasUsed, networkToken }
    const involved = addressesOf(item)
    return webhooks
      .filter(({ addresses }) => [...involved].some((address) => addresses.has(address)))
      .map((webhook) => toDelivery(webhook, buildEvent(webhook, chainEvent)))
  })
}

function itemsOf({ items, blockNumbers }: ChainItems, block: number): readonly JsonObject[] {
  const from = lowerBound(blockNumbers, (number) => number >= block)
  return items.slice(
    from,
    lowerBound(blockNumbers, (number) => number > block),
  )
}

function gasUsedBy(item: JsonObject): bigint {
  const text = String(objectOf(item.nativeTransaction).gasUsed)
  return BigInt(/^\d+$/.test(text) ? text : 0)
}

function toDelivery({ id }: Webhook, event: JsonObject): Delivery {
  const messageId = randomUUID()
  const body = { webhookId: id, eventType: 'address_activity', messageId, event }
  return { webhookId: id, messageId, body }
}
