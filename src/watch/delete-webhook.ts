import { isNotOffered } from './find-webhooks.ts'
import type { Watching } from './plan-webhooks.ts'
import type { WebhookService } from './webhook-service.ts'

/**
 * Ends a webhook. Where the service has no operation for that, its addresses are removed, which the interface has
 * (section 4.6): it then has nothing to tell. A webhook that is gone is no fault.
 */
export async function dropWebhook(
  service: Pick<WebhookService, 'deleteWebhook' | 'removeWebhookAddresses'>,
  { id, addresses }: Watching,
  signal?: AbortSignal,
): Promise<void> {
  const passIfNotOffered = (thrown: unknown) => {
    if (!isNotOffered(thrown)) throw thrown
    return thrown
  }
  const refused = await service.deleteWebhook({ id }, { signal }).then(() => undefined, passIfNotOffered)
  if (refused === undefined || addresses.length === 0) return
  await service.removeWebhookAddresses({ id, addresses }, { signal }).catch(passIfNotOffered)
}
