import type { ServiceClient } from '../sources/data-api/service-client.ts'

/** The client operations that a watch uses. They reject with an ExportError. */
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
