import type { ServiceClient } from '../sources/data-api/service-client.ts'

/** What this room needs of a service; calls reject with an ExportError. */
export type WebhookService = Pick<
  ServiceClient,
  | 'listWebhooks'
  | 'listWebhookAddresses'
  | 'createWebhook'
  | 'updateWebhook'
  | 'deleteWebhook'
  | 'addWebhookAddresses'
  | 'removeWebhookAddresses'
>
