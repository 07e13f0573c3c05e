import type { JsonObject } from '../json.ts'

/** The fields of a webhook that its owner sets (interface 4.4), without the addresses. */
export type WebhookFields = {
  readonly url: string
  readonly chainId: string
  readonly name: string
  readonly description: string
  readonly status: 'active' | 'inactive'
  readonly includeInternalTxs: boolean
  readonly includeLogs: boolean
  /** Stored and returned, but not used to filter events, because the interface does not define their meaning. */
  readonly eventSignatures: readonly string[] | undefined
}

export type Webhook = WebhookFields & {
  readonly id: string
  /** Index of the API key that it belongs to. */
  readonly owner: number
  /** Increases with each webhook. */
  readonly sequence: number
  /** Time of creation in Unix milliseconds. */
  readonly createdAt: number
  /** By address in lower case, in the order in which they were added. */
  readonly addresses: ReadonlyMap<string, WatchedAddress>
}

export type WatchedAddress = {
  /** The address in the letter case in which it was first added. */
  readonly text: string
  /** Increases with each address of a webhook. */
  readonly sequence: number
}

/** A webhook in the response format (interface 2.9). All fields are always present, except `eventSignatures`. */
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

/** Adds addresses. An address that is already watched, in any letter case, keeps its entry. */
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

/** Removes addresses. Addresses that are not watched are ignored. */
export function removeAddresses(
  watched: ReadonlyMap<string, WatchedAddress>,
  texts: readonly string[],
): Map<string, WatchedAddress> {
  const removed = new Set(texts.map((text) => text.toLowerCase()))
  return new Map([...watched].filter(([address]) => !removed.has(address)))
}
