import { ExportError } from '../../../core/model/errors.ts'
import { createAdaptivePageSize } from '../../adaptive-page-size.ts'
import type { WebhooksPage } from '../resources/pages.ts'
import type { NewWebhook, Webhook, WebhookChanges, WebhookStatus } from '../resources/webhook.ts'
import { type Call, type CallOptions, PAGE_SIZE, type Paging } from './call.ts'
import { followPages } from './follow-pages.ts'
import { path, queryOf } from './path.ts'
import { pageReader, readAnyObject, readObject } from './read-response.ts'

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
  const found: Webhook[] = []
  for await (const { webhooks } of pages)
    for (const webhook of webhooks.filter((webhook) => isMatch(webhook, match))) found.push(webhook)
  return found
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
function ignoreIfDeleted(thrown: unknown): undefined {
  const isDeleted = thrown instanceof ExportError && thrown.status === 404 && thrown.mayHaveActed
  if (!isDeleted) throw thrown
}
