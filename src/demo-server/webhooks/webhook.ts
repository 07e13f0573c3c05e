import type { JsonObject } from '../json.ts'

/** What its owner decides of a webhook (interface 4.4), addresses aside. */
export type WebhookFields = {
  readonly url: string
  readonly chainId: string
  readonly name: string
  readonly description: string
  readonly status: 'active' | 'inactive'
  readonly includeInternalTxs: boolean
  readonly includeLogs: boolean
  /** Kept and given back; the interface does not say what they mean, so no event is held back for them. */
  readonly eventSignatures: readonly string[] | undefined
}

export type Webhook = WebhookFields & {
  readonly id: string
  /** Number of the key that it belongs to. */
  readonly owner: number
  /** Rises from one webhook to the next. */
  readonly sequence: number
  /** Unix milliseconds. */
  readonly createdAt: number
  /** By the address in lower case, in the order they came. */
  readonly addresses: ReadonlyMap<string, WatchedAddress>
}

export type WatchedAddress = {
  /** As its owner first wrote it. */
  readonly text: string
  /** Rises from one address of a webhook to the next. */
  readonly sequence: number
}

/** Shows a webhook to its owner (interface 2.9): every field, always. */
export function showWebhook({ addresses, eventSignatures, ...webhook }: Webhook): JsonObject {
  const signatures = eventSignatures === undefined ? {} : { eventSignatures }
  return {
    id: webhook.id,
    eventType: 'address_activity',
    url: webhook.url,
    chainId: webhook.chainId,
    status: webhook.status,
    createdAt: webhook.createdAt,
    name: webhook.name,
    description: webhook.description,
    metadata: { addresses: [...addresses.values()].map(({ text }) => text), ...signatures },
    includeInternalTxs: webhook.includeInternalTxs,
    includeLogs: webhook.includeLogs,
  }
}

/** Adds addresses to those watched; one that is there already, in whatever letter case, stays as it is. */
export function addAddresses(
  watched: ReadonlyMap<string, WatchedAddress>,
  texts: readonly string[],
): Map<string, WatchedAddress> {
  const all = new Map(watched)
  let sequence = [...watched.values()].at(-1)?.sequence ?? -1
  for (const text of texts) {
    const address = text.toLowerCase()
    if (!all.has(address)) all.set(address, { text, sequence: ++sequence })
  }
  return all
}

/** Takes addresses out of those watched; one that is not there is no fault. */
export function removeAddresses(
  watched: ReadonlyMap<string, WatchedAddress>,
  texts: readonly string[],
): Map<string, WatchedAddress> {
  const removed = new Set(texts.map((text) => text.toLowerCase()))
  return new Map([...watched].filter(([address]) => !removed.has(address)))
}
