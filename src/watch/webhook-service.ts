import type { ServiceClient } from '../client/service-client.ts'

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
