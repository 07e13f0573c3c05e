import { isUnsupported } from './find-webhooks.ts'
import type { WatchedAddresses } from './plan-webhooks.ts'
import type { WebhookService } from './webhook-service.ts'

/**
 * Ends a webhook. Where the service has no operation for that, its addresses are removed, which the interface has
 * (section 4.6): it then has nothing to tell. A webhook that is gone is no fault.
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
