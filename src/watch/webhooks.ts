import { ExportError } from '../core/model/errors.ts'
import type { Webhook } from '../sources/data-api/resources.ts'
import type { ServiceClient } from '../sources/data-api/service-client.ts'
import type { WatchedAddresses } from './plan-webhooks.ts'

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

/** A webhook that the service lists. */
export type FoundWebhook = WatchedAddresses & {
  url: string
  chain: string
  name: string
  /** Anything but `inactive` counts as active. */
  status: string
}

/**
 * Lists the API key's webhooks that match, with addresses in lower case. Undefined if the service does not list webhooks,
 * which the interface does not require.
 */
export async function findWebhooks(
  service: WebhookService,
  matches: (webhook: Omit<FoundWebhook, 'addresses'>) => boolean,
  signal?: AbortSignal,
): Promise<FoundWebhook[] | undefined> {
  const listed: Webhook[] = []
  try {
    for await (const { webhooks } of service.listWebhooks({}, { signal }))
      for (const webhook of webhooks) listed.push(webhook)
  } catch (error) {
    if (isUnsupported(error)) return undefined
    throw error
  }
  const matching = listed.flatMap((item) => {
    const described = toFoundWebhook(item)
    return described !== undefined && matches(described)
      ? [{ described, addresses: item?.metadata?.addresses }]
      : []
  })
  return Promise.all(
    matching.map(async ({ described, addresses }) => ({
      ...described,
      addresses: addresses?.map(normalizeAddress) ?? (await listAddresses(service, described.id, signal)),
    })),
  )
}

/** Whether the service responded that the operation or resource does not exist (404, 405 or 501). */
export function isUnsupported(error: unknown): error is ExportError {
  return error instanceof ExportError && [404, 405, 501].includes(error.status ?? 0)
}

function toFoundWebhook(webhook: Webhook | null): Omit<FoundWebhook, 'addresses'> | undefined {
  const { id, url, chainId, name, status, eventType } = webhook ?? {}
  if (typeof id !== 'string' || (eventType ?? 'address_activity') !== 'address_activity') return undefined
  return {
    id,
    url: url ?? '',
    chain: textOf(chainId),
    name: name ?? '',
    status: status ?? 'active',
  }
}

async function listAddresses(service: WebhookService, id: string, signal?: AbortSignal): Promise<string[]> {
  const all: string[] = []
  try {
    for await (const { addresses } of service.listWebhookAddresses({ id }, { signal }))
      for (const address of addresses.map(normalizeAddress)) all.push(address)
  } catch (error) {
    if (!isUnsupported(error)) throw error
  }
  return all
}

const normalizeAddress = (address: string) => textOf(address).toLowerCase()

/** Converts text or a number to text, and any other value that a service may send to ''. */
function textOf(value: unknown): string {
  return typeof value === 'string' || typeof value === 'number' ? String(value) : ''
}

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

function unsupportedStatus(error: unknown): number {
  if (!(isUnsupported(error) && error.status !== undefined)) throw error
  return error.status
}
