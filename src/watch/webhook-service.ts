/** A webhook as a service shows it: any field may be absent or null (interface section 2.9). */
export type SeenWebhook = {
  id?: string | null
  url?: string | null
  chainId?: string | number | null
  status?: string | null
  name?: string | null
  eventType?: string | null
  metadata?: { addresses?: string[] | null } | null
}

type Options = { signal?: AbortSignal | undefined }
type Addresses = { id: string; addresses: readonly string[] }

/** What this room needs of a service; calls reject with an ExportError. */
export type WebhookService = {
  listWebhooks(query?: object, options?: Options): AsyncIterable<{ webhooks: SeenWebhook[] }>
  listWebhookAddresses(query: { id: string }, options?: Options): AsyncIterable<{ addresses: string[] }>
  createWebhook(
    webhook: {
      eventType: 'address_activity'
      url: string
      chainId: string
      name: string
      metadata: { addresses: readonly string[] }
    },
    options?: Options,
  ): Promise<SeenWebhook>
  updateWebhook(query: { id: string; status: 'active' }, options?: Options): Promise<unknown>
  deleteWebhook(query: { id: string }, options?: Options): Promise<unknown>
  addWebhookAddresses(query: Addresses, options?: Options): Promise<unknown>
  removeWebhookAddresses(query: Addresses, options?: Options): Promise<unknown>
}
