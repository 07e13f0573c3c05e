import { createAdaptivePageSize } from '../../adaptive-page-size.ts'
import type { WebhookAddressesPage } from '../resources/pages.ts'
import type { Webhook } from '../resources/webhook.ts'
import { type Call, type CallOptions, PAGE_SIZE, type Paging } from './call.ts'
import { followPages } from './follow-pages.ts'
import { path, queryOf } from './path.ts'
import { pageReader, readAnyObject } from './read-response.ts'
import type { WebhookId } from './webhooks.ts'

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
    call(pageSpec(query), pageReader<WebhookAddressesPage>('addresses'), options)
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

function pageSpec({ id, pageSize = PAGE_SIZE, pageToken }: WebhookId & Paging) {
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
