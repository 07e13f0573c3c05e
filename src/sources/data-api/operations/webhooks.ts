import { ExportError } from '../../../core/model/errors.ts'
import type { WebhooksPage } from '../resources/pages.ts'
import type { NewWebhook, Webhook, WebhookChanges, WebhookStatus } from '../resources/webhook.ts'
import { type Call, type CallOptions, PAGE_SIZE, type Paging } from './call.ts'
import { followPages } from './follow-pages.ts'
import { path, queryOf } from './path.ts'
import { pageReader, readAnyObject, readObject } from './read-response.ts'

/** A webhook by the id that the service gave it. */
export type WebhookId = { id: string }

/** Which webhooks to list. */
export type WebhooksQuery = Paging & {
  /** Webhooks of this status only. @default all */
  status?: WebhookStatus | undefined
}

/** What tells a webhook from others; a name only where one is given. */
export type WebhookMatch = Pick<NewWebhook, 'eventType' | 'url' | 'chainId' | 'name'>

export type WebhookOperations = {
  /**
   * Creates a webhook (interface section 4.4); a new one is `active`.
   *
   * Creating twice makes two, so it is sent again only where the service surely did not do it: after 429, after 503
   * with Retry-After, and where no connection could be made. After any other fault it rejects with `mayHaveActed`: look
   * for it with `findWebhooks` before creating it again.
   */
  createWebhook(webhook: NewWebhook, options?: CallOptions): Promise<Webhook>
  /** Gets a webhook. Beyond the interface: a service may not offer it and answer 404. */
  getWebhook(query: WebhookId, options?: CallOptions): Promise<Webhook>
  /** Lists all webhooks, page after page. Beyond the interface: a service may not offer it and answer 404. */
  listWebhooks(query?: WebhooksQuery, options?: CallOptions): AsyncGenerator<WebhooksPage, void, void>
  /** Gets one page of the webhooks, the first or the one after `pageToken`; beyond the interface. */
  webhooksPage(query?: WebhooksQuery, options?: CallOptions): Promise<WebhooksPage>
  /** Reads the whole list for webhooks of this type, receiver, chain and (where given) name; beyond the interface. */
  findWebhooks(match: WebhookMatch, options?: CallOptions): Promise<Webhook[]>
  /**
   * Changes a webhook; undefined where the service answers nothing. Beyond the interface: a service may not offer it and
   * answer 404. Tried again after any fault: the same change twice is one.
   */
  updateWebhook(query: WebhookId & WebhookChanges, options?: CallOptions): Promise<Webhook | undefined>
  /**
   * Deletes a webhook; gives what the service answers of it, undefined where that is nothing. Beyond the interface: a
   * service may not offer it and answer 404, and may keep the webhook as `inactive`. Tried again after any fault; a 404
   * after a lost answer counts as done.
   */
  deleteWebhook(query: WebhookId, options?: CallOptions): Promise<Webhook | undefined>
}

/** The operations on webhooks; their addresses have their own. */
export function webhookOperations(call: Call): WebhookOperations {
  const webhooksPage: WebhookOperations['webhooksPage'] = (query, options) =>
    call(pageSpec(query), pageReader<WebhooksPage>('webhooks'), options)
  const listWebhooks: WebhookOperations['listWebhooks'] = (query, options) =>
    followPages((pageToken) => webhooksPage({ ...query, pageToken }, options), query?.pageToken)
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
    label: 'list of webhooks',
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
  const label = `creating a webhook on chain ${body.chainId}`
  return { method: 'POST' as const, pathAndQuery: '/v1/webhooks', body, label, nonIdempotent: true }
}

function webhookSpec<Method extends 'GET' | 'PATCH' | 'DELETE'>(method: Method, id: string) {
  const label = `${LABELS[method]} ${id}`
  return { method, pathAndQuery: path`/v1/webhooks/${id}`, label }
}

const LABELS = { GET: 'webhook', PATCH: 'changing webhook', DELETE: 'deleting webhook' } as const

/** An earlier try's answer was lost, and now the webhook is not there any more. */
function ignoreIfDeleted(thrown: unknown): undefined {
  const isDeleted = thrown instanceof ExportError && thrown.status === 404 && thrown.mayHaveActed
  if (!isDeleted) throw thrown
}
