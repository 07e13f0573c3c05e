import { isUnsupported } from './find-webhooks.ts'
import type { WatchedAddresses } from './plan-webhooks.ts'
import type { WebhookService } from './webhook-service.ts'

/** What became of a webhook: it no longer exists, it exists without addresses, or the service supports neither. */
export type Removal = 'removed' | 'emptied' | 'not removed'

/**
 * Deletes a webhook. If the service does not support that, removes the webhook's addresses instead (interface section 4.6),
 * so that it sends no more events. A webhook that no longer exists is not an error.
 */
export async function deleteOrEmptyWebhook(
  service: Pick<WebhookService, 'deleteWebhook' | 'removeWebhookAddresses'>,
  { id, addresses }: WatchedAddresses,
  signal?: AbortSignal,
): Promise<Removal> {
  const deleted = await service.deleteWebhook({ id }, { signal }).then(() => undefined, unsupportedStatus)
  if (deleted === undefined) return 'removed'
  if (addresses.length === 0) return 'emptied'
  const emptied = await service
    .removeWebhookAddresses({ id, addresses }, { signal })
    .then(() => undefined, unsupportedStatus)
  if (emptied === undefined) return 'emptied'
  return deleted === 404 && emptied === 404 ? 'removed' : 'not removed'
}

function unsupportedStatus(thrown: unknown): number {
  if (!(isUnsupported(thrown) && thrown.status !== undefined)) throw thrown
  return thrown.status
}
