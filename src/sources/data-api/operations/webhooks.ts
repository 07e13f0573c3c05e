import { ExportError } from '../../../core/model/errors.ts'
import { createAdaptivePageSize } from '../../adaptive-page-size.ts'
import type {
  NewWebhook,
  Webhook,
  WebhookAddressesPage,
  WebhookChanges,
  WebhookStatus,
  WebhooksPage,
} from '../resources.ts'
import {
  type Call,
  type CallOptions,
  followPages,
  malformedResponse,
  PAGE_SIZE,
  type Paging,
  pageReader,
  path,
  queryOf,
  readAnyObject,
  readObject,
} from './call.ts'

/** A webhook by its id. */
export type WebhookId = { id: string }

/** Filters for the list of webhooks. */
export type WebhooksQuery = Paging & {
  /** Only webhooks with this status. @default all */
  status?: WebhookStatus | undefined
}

/** Fields that identify a webhook. The name is compared only if it is given. */
export type WebhookMatch = Pick<NewWebhook, 'eventType' | 'url' | 'chainId' | 'name'>

export type WebhookOperations = {
  /**
   * Creates a webhook (interface section 4.4). A new one is `active`.
   *
   * Not idempotent: it is retried only if the service certainly did not process it, that is after 429, after
   * 503 with Retry-After, and if no connection was made. After any other error it rejects with
   * `mayHaveActed`: look for the webhook with `findWebhooks` before creating it again.
   */
  createWebhook(webhook: NewWebhook, options?: CallOptions): Promise<Webhook>
  /** Gets a webhook. Beyond the interface: a service may respond with 404. */
  getWebhook(query: WebhookId, options?: CallOptions): Promise<Webhook>
  /** Lists all webhooks, page by page. Beyond the interface: a service may respond with 404. */
  listWebhooks(query?: WebhooksQuery, options?: CallOptions): AsyncGenerator<WebhooksPage, void, void>
  /** Gets one page of the webhooks, the first or the one after `pageToken`. Beyond the interface. */
  webhooksPage(query?: WebhooksQuery, options?: CallOptions): Promise<WebhooksPage>
  /** Searches the whole list for webhooks of this type, receiver, chain and (if given) name. Beyond the interface. */
  findWebhooks(match: WebhookMatch, options?: CallOptions): Promise<Webhook[]>
  /**
   * Changes a webhook; resolves with undefined if the service returns no body. Beyond the interface: a
   * service may respond with 404. Retried after any error, since the same change twice has no further effect.
   */
  updateWebhook(query: WebhookId & WebhookChanges, options?: CallOptions): Promise<Webhook | undefined>
  /**
   * Deletes a webhook; resolves with the webhook if the service returns it, otherwise with undefined.
   * Beyond the interface: a service may respond with 404, or keep the webhook as `inactive`. Retried after
   * any error; a 404 after a lost response counts as success.
   */
  deleteWebhook(query: WebhookId, options?: CallOptions): Promise<Webhook | undefined>
}

/** Creates the operations on webhooks. Those on their addresses are separate. */
export function webhookOperations(call: Call): WebhookOperations {
  const size = createAdaptivePageSize()
  const webhooksPage: WebhookOperations['webhooksPage'] = (query, options) =>
    call(pageSpec(query), pageReader<WebhooksPage>('webhooks'), options)
  const listWebhooks: WebhookOperations['listWebhooks'] = (query, options) =>
    followPages((paging) => webhooksPage({ ...query, ...paging }, options), query ?? {}, size)
  return {
    webhooksPage: async (query, options) => webhooksPage(query, options),
    listWebhooks,
    findWebhooks: (match, options) => collectMatches(listWebhooks({}, options), match),
    createWebhook: async (webhook, options) => call(createSpec(webhook), readObject<Webhook>, options),
    getWebhook: async ({ id }, options) => call(webhookSpec('GET', id), readObject<Webhook>, options),
    updateWebhook: async ({ id, ...body }, options) =>
      call({ ...webhookSpec('PATCH', id), body }, readAnyObject<Webhook>, options),
    deleteWebhook: async ({ id }, options) =>
      call(webhookSpec('DELETE', id), readAnyObject<Webhook>, options).catch(ignoreIfDeleted),
  }
}

function pageSpec({ pageSize = PAGE_SIZE, pageToken, status }: WebhooksQuery = {}) {
  return {
    method: 'GET' as const,
    pathAndQuery: `/v1/webhooks${queryOf({ pageSize, pageToken, status })}`,
    description: 'list of webhooks',
  }
}

async function collectMatches(pages: AsyncIterable<WebhooksPage>, match: WebhookMatch): Promise<Webhook[]> {
  const matching: Webhook[] = []
  for await (const { webhooks } of pages)
    for (const webhook of webhooks.filter((webhook) => isMatch(webhook, match))) matching.push(webhook)
  return matching
}

function isMatch({ eventType, url, chainId, name }: Webhook, match: WebhookMatch): boolean {
  const isSameReceiver =
    eventType === match.eventType && url === match.url && String(chainId) === match.chainId
  return isSameReceiver && (match.name === undefined || name === match.name)
}

function createSpec(body: NewWebhook) {
  const description = `creating a webhook on chain ${body.chainId}`
  return { method: 'POST' as const, pathAndQuery: '/v1/webhooks', body, description, nonIdempotent: true }
}

function webhookSpec<Method extends 'GET' | 'PATCH' | 'DELETE'>(method: Method, id: string) {
  const description = `${DESCRIPTIONS[method]} ${id}`
  return { method, pathAndQuery: path`/v1/webhooks/${id}`, description }
}

const DESCRIPTIONS = { GET: 'webhook', PATCH: 'changing webhook', DELETE: 'deleting webhook' } as const

/** The response of an earlier attempt was lost, and the webhook no longer exists. */
function ignoreIfDeleted(error: unknown): undefined {
  const isDeleted = error instanceof ExportError && error.status === 404 && error.mayHaveActed
  if (!isDeleted) throw error
}

/** A webhook and addresses to add or remove (interface sections 4.5 and 4.6). */
export type WebhookAddresses = WebhookId & { addresses: readonly string[] }

export type WebhookAddressOperations = {
  /**
   * Adds addresses to a webhook (interface section 4.5). The interface does not show the response body:
   * resolves with the webhook if the service returns it, otherwise with undefined. Retried after any error,
   * since adding an address twice has no effect. The interface does not show how a service refuses too many
   * addresses (section 8: 5 on a free plan).
   */
  addWebhookAddresses(query: WebhookAddresses, options?: CallOptions): Promise<Webhook | undefined>
  /**
   * Removes addresses from a webhook (interface section 4.6). The interface does not show the response body:
   * resolves with the webhook if the service returns it, otherwise with undefined. Retried after any error; a
   * refusal after a lost response carries `mayHaveActed`.
   */
  removeWebhookAddresses(query: WebhookAddresses, options?: CallOptions): Promise<Webhook | undefined>
  /** Lists the addresses of a webhook, page by page. Beyond the interface: a service may respond with 404. */
  listWebhookAddresses(
    query: WebhookId & Paging,
    options?: CallOptions,
  ): AsyncGenerator<WebhookAddressesPage, void, void>
  /** Gets one page of the addresses of a webhook, the first or the one after `pageToken`. Beyond the interface. */
  webhookAddressesPage(query: WebhookId & Paging, options?: CallOptions): Promise<WebhookAddressesPage>
}

/** Creates the operations on the addresses of webhooks. */
export function webhookAddressOperations(call: Call): WebhookAddressOperations {
  const size = createAdaptivePageSize()
  const addressesPage: WebhookAddressOperations['webhookAddressesPage'] = (query, options) =>
    call(addressesSpec(query), pageReader<WebhookAddressesPage>('addresses'), options)
  return {
    webhookAddressesPage: async (query, options) => addressesPage(query, options),
    listWebhookAddresses: (query, options) =>
      followPages((paging) => addressesPage({ ...query, ...paging }, options), query, size),
    addWebhookAddresses: async (query, options) =>
      call({ method: 'PATCH', ...changeSpec(query, 'adding') }, readAnyObject<Webhook>, options),
    removeWebhookAddresses: async (query, options) =>
      call({ method: 'DELETE', ...changeSpec(query, 'removing') }, readAnyObject<Webhook>, options),
  }
}

function addressesSpec({ id, pageSize = PAGE_SIZE, pageToken }: WebhookId & Paging) {
  return {
    method: 'GET' as const,
    pathAndQuery: path`/v1/webhooks/${id}/addresses` + queryOf({ pageSize, pageToken }),
    description: `addresses of webhook ${id}`,
  }
}

function changeSpec({ id, addresses }: WebhookAddresses, verb: string) {
  const description = `${verb} addresses of webhook ${id}`
  return { pathAndQuery: path`/v1/webhooks/${id}/addresses`, body: { addresses }, description }
}

export type SharedSecretOperations = {
  /**
   * Gets the secret that signs events. Beyond the interface (section 5 does not describe signing): a service
   * may respond with 404.
   */
  getSharedSecret(options?: CallOptions): Promise<string>
  /**
   * Creates the secret, or replaces it. Beyond the interface: a service may respond with 404. Not idempotent:
   * it is retried only if the service certainly did not process it. After any other error it rejects with
   * `mayHaveActed`; `getSharedSecret` then returns the current secret.
   */
  rotateSharedSecret(options?: CallOptions): Promise<string>
}

/** Creates the operations on the secret that signs events. */
export function sharedSecretOperations(call: Call): SharedSecretOperations {
  return {
    getSharedSecret: async (options) => call(GET_SECRET_SPEC, readSecret, options),
    rotateSharedSecret: async (options) => call(ROTATE_SECRET_SPEC, readSecret, options),
  }
}

const GET_SECRET_SPEC = {
  method: 'GET',
  pathAndQuery: '/v1/webhooks:getSharedSecret',
  description: 'shared secret of webhooks',
} as const

const ROTATE_SECRET_SPEC = {
  method: 'POST',
  pathAndQuery: '/v1/webhooks:generateOrRotateSharedSecret',
  description: 'changing the shared secret of webhooks',
  nonIdempotent: true,
} as const

function readSecret(body: Buffer): string {
  const { secret } = readObject<{ secret?: unknown }>(body)
  if (typeof secret !== 'string' || secret === '') throw malformedResponse('has no secret', body)
  return secret
}
