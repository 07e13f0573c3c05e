import { HttpError } from '../http-error.ts'
import type { Call, Operation, Service } from '../operation.ts'
import { readChoice, readPageQuery } from '../parameters.ts'
import { readAddresses, readNewWebhook, readWebhookChange } from './read-webhook.ts'
import type { WatchedAddress, Webhook } from './registry.ts'

export const createWebhook: Operation = (call, { options, registry, chains }) => {
  const { clock = Date.now } = options
  const { addresses, ...fields } = readNewWebhook(call.body(), chains.ids)
  const watched = watch(new Map(), addresses, options)
  return show(registry.add({ ...fields, addresses: watched, owner: call.owner, createdAt: clock() }))
}

export const listWebhooks: Operation = ({ query, owner }, { registry, selectPage }) => {
  const page = readPageQuery(query)
  const status = readChoice(query, 'status', ['active', 'inactive'])
  const webhooks = registry.ownedBy(owner).filter((webhook) => status === null || webhook.status === status)
  const key = ['webhooks', owner, status, page.pageSize]
  const { selected, next } = selectPage(webhooks, key, page, sequenceOf)
  return { webhooks: selected.map(show), ...next }
}

export const showWebhook: Operation = ({ path, owner }, { registry }) => show(registry.find(owner, path.id))

export const updateWebhook: Operation = (call, service) =>
  change(call, service, ({ chainId }) => readWebhookChange(call.body(), chainId))

export const deactivateWebhook: Operation = (call, service) =>
  change(call, service, () => ({ status: 'inactive' }))

export const listAddresses: Operation = ({ path, query, owner }, { registry, selectPage }) => {
  const { id, addresses } = registry.find(owner, path.id)
  const page = readPageQuery(query)
  const watched = [...addresses.values()]
  const { selected, next } = selectPage(watched, ['addresses', id, page.pageSize], page, sequenceOf)
  return { addresses: selected.map(({ text }) => text), totalAddresses: watched.length, ...next }
}

export const addAddresses: Operation = (call, service) =>
  change(call, service, ({ addresses }) => ({
    addresses: watch(addresses, readAddresses(call.body()), service.options),
  }))

/** Removes addresses. Addresses that are not watched are ignored. */
export const removeAddresses: Operation = (call, service) =>
  change(call, service, ({ addresses }) => {
    const removed = new Set(readAddresses(call.body()).map((text) => text.toLowerCase()))
    return { addresses: new Map([...addresses].filter(([address]) => !removed.has(address))) }
  })

export const rotateSecret: Operation = ({ owner }, { registry }) => ({ secret: registry.rotateSecret(owner) })

export const showSecret: Operation = ({ owner }, { registry }) => {
  const secret = registry.secretOf(owner)
  if (secret !== undefined) return { secret }
  throw new HttpError(
    404,
    'There is no shared secret yet: POST /v1/webhooks:generateOrRotateSharedSecret creates one.',
  )
}

function change({ path, owner }: Call, { registry }: Service, make: (webhook: Webhook) => Partial<Webhook>) {
  const webhook = registry.find(owner, path.id)
  return show(registry.replace({ ...webhook, ...make(webhook) }))
}

/**
 * Adds addresses. An address that is already watched, in any letter case, keeps its entry. Throws `HttpError` 400 if there
 * are too many addresses; not 403, because the request is invalid, not the key.
 */
function watch(
  watched: Webhook['addresses'],
  texts: readonly string[],
  { maxAddresses = 5 }: Service['options'],
): Webhook['addresses'] {
  const all = new Map(watched)
  let sequence = [...watched.values()].at(-1)?.sequence ?? -1
  for (const text of texts) {
    const address = text.toLowerCase()
    if (!all.has(address)) all.set(address, { text, sequence: ++sequence })
  }
  if (all.size <= maxAddresses) return all
  throw new HttpError(
    400,
    `A webhook of this plan can watch at most ${maxAddresses} addresses, but this would make ${all.size}.`,
  )
}

/** Entries may be added and removed between pages. */
function sequenceOf({ sequence }: Webhook | WatchedAddress): number {
  return sequence
}

/** A webhook in the response format (interface 2.9). All fields are always present, except `eventSignatures`. */
function show({ addresses, eventSignatures, ...webhook }: Webhook) {
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
