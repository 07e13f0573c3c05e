import type { DataServiceOptions, ServiceResponse } from '../data-service.ts'
import { HttpError, jsonResponse } from '../http-error.ts'
import type { ListingKey, PageTokens } from '../page-tokens.ts'
import { type BlockQuery, readChoice, readPageQuery } from '../query.ts'
import type { Call } from '../route.ts'
import { readAddresses, readNewWebhook, readWebhookChange } from './read-webhook.ts'
import type { Registry } from './registry.ts'
import { addAddresses, removeAddresses, showWebhook, type Webhook } from './webhook.ts'

export type WebhookContext = {
  readonly registry: Registry
  readonly tokens: PageTokens
  readonly chainIds: readonly string[]
}

/** Creates the operations on webhooks (interface 4.4 to 4.6, and related ones). `owner` is the index of the API key. */
export function createWebhookOperations(options: DataServiceOptions, tools: WebhookContext) {
  const { clock = Date.now, maxAddresses = 5 } = options
  const { registry, chainIds } = tools
  const show = (webhook: Webhook) => jsonResponse(200, showWebhook(webhook))
  const change = (owner: number, id: string, make: (webhook: Webhook) => Partial<Webhook>) => {
    const webhook = registry.find(owner, id)
    return show(registry.replace({ ...webhook, ...make(webhook) }))
  }

  return {
    createWebhook(call: Call, owner: number) {
      const { addresses: texts, ...fields } = readNewWebhook(call.body(), chainIds)
      const addresses = limit(addAddresses(new Map(), texts), maxAddresses)
      return jsonResponse(201, showWebhook(registry.add({ ...fields, addresses, owner, createdAt: clock() })))
    },
    listWebhooks: (call: Call, owner: number) => jsonResponse(200, listWebhooks(call, owner, tools)),
    showWebhook: ({ path }: Call, owner: number) => show(registry.find(owner, path.id)),
    updateWebhook: ({ path, body }: Call, owner: number) =>
      change(owner, path.id, ({ chainId }) => readWebhookChange(body(), chainId)),
    deactivateWebhook: ({ path }: Call, owner: number) =>
      change(owner, path.id, () => ({ status: 'inactive' })),
    listAddresses: (call: Call, owner: number) => jsonResponse(200, listAddresses(call, owner, tools)),
    addAddresses: ({ path, body }: Call, owner: number) =>
      change(owner, path.id, ({ addresses }) => ({
        addresses: limit(addAddresses(addresses, readAddresses(body())), maxAddresses),
      })),
    removeAddresses: ({ path, body }: Call, owner: number) =>
      change(owner, path.id, ({ addresses }) => ({
        addresses: removeAddresses(addresses, readAddresses(body())),
      })),
    rotateSecret: (_call: Call, owner: number) => jsonResponse(201, { secret: registry.rotateSecret(owner) }),
    showSecret: (_call: Call, owner: number) => showSecret(registry.secretOf(owner)),
  }
}

/** Throws `HttpError` 400 if there are too many addresses; not 403, because the request is invalid, not the key. */
function limit(addresses: Webhook['addresses'], most: number): Webhook['addresses'] {
  if (addresses.size <= most) return addresses
  throw new HttpError(
    400,
    `A webhook of this plan can watch at most ${most} addresses, but this would make ${addresses.size}.`,
  )
}

function listWebhooks({ query }: Call, owner: number, { registry, tokens }: WebhookContext) {
  const paging = readPageQuery(query)
  const status = readChoice(query, 'status', ['active', 'inactive'])
  const entries = registry.ownedBy(owner).filter((webhook) => status === null || webhook.status === status)
  const listingKey = ['webhooks', owner, status, paging.pageSize]
  const { page, next } = pageEntries({ ...paging, tokens, listingKey, entries })
  return { webhooks: page.map(showWebhook), ...next }
}

function listAddresses({ path, query }: Call, owner: number, { registry, tokens }: WebhookContext) {
  const { id, addresses } = registry.find(owner, path.id)
  const paging = readPageQuery(query)
  const entries = [...addresses.values()]
  const listingKey = ['addresses', id, paging.pageSize]
  const { page, next } = pageEntries({ ...paging, tokens, listingKey, entries })
  return { addresses: page.map(({ text }) => text), totalAddresses: entries.length, ...next }
}

function showSecret(secret: string | undefined): ServiceResponse {
  if (secret !== undefined) return jsonResponse(200, { secret })
  throw new HttpError(
    404,
    'There is no shared secret yet: POST /v1/webhooks:generateOrRotateSharedSecret creates one.',
  )
}

type PagingOptions<Entry> = BlockQuery & {
  readonly tokens: PageTokens
  readonly listingKey: ListingKey
  /** In ascending order of `sequence`. */
  readonly entries: readonly Entry[]
}

/**
 * Returns one page of entries. The page token holds the sequence number of the next entry, so entries may be added and
 * removed between pages.
 */
function pageEntries<Entry extends { readonly sequence: number }>(paging: PagingOptions<Entry>) {
  const { tokens, listingKey, entries, pageToken, pageSize } = paging
  const from = pageToken === null ? 0 : tokens.decode(listingKey, pageToken)
  const remaining = entries.filter(({ sequence }) => sequence >= from)
  const page = remaining.slice(0, pageSize)
  const next = remaining[pageSize]
  return { page, next: next === undefined ? {} : { nextPageToken: tokens.encode(listingKey, next.sequence) } }
}
