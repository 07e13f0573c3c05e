import { isUnsupported } from './find-webhooks.ts'
import type { WatchedAddresses } from './plan-webhooks.ts'
import type { WebhookService } from './webhook-service.ts'

/**
 * Deletes a webhook. If the service does not support that, removes the webhook's addresses instead (interface section 4.6),
 * so that it sends no more events. A webhook that no longer exists is not an error.
 */
export async function deleteOrEmptyWebhook(
  service: Pick<WebhookService, 'deleteWebhook' | 'removeWebhookAddresses'>,
  { id, addresses }: WatchedAddresses,
  signal?: AbortSignal,
): Promise<void> {
  const ignoreIfUnsupported = (thrown: unknown) => {
    if (!isUnsupported(thrown)) throw thrown
    return thrown
  }
  const unsupported = await service
    .deleteWebhook({ id }, { signal })
    .then(() => undefined, ignoreIfUnsupported)
  if (unsupported === undefined || addresses.length === 0) return
  await service.removeWebhookAddresses({ id, addresses }, { signal }).catch(ignoreIfUnsupported)
}
