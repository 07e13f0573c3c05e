import { ExportError } from '../core/model/errors.ts'
import type { Webhook } from '../sources/data-api/resources/webhook.ts'
import type { Watching } from './plan-webhooks.ts'
import type { WebhookService } from './webhook-service.ts'

/** A webhook that can be named to the service. */
export type FoundWebhook = Watching & {
  url: string
  chain: string
  name: string
  /** Anything but `inactive` counts as active. */
  status: string
}

/**
 * All webhooks of the key that `isWanted` picks, addresses in lower case; undefined where the service does not list
 * webhooks: that lies beyond the interface.
 */
export async function findWebhooks(
  service: WebhookService,
  isWanted: (webhook: Omit<FoundWebhook, 'addresses'>) => boolean,
  signal?: AbortSignal,
): Promise<FoundWebhook[] | undefined> {
  const seen: Webhook[] = []
  try {
    for await (const { webhooks } of service.listWebhooks({}, { signal }))
      for (const each of webhooks) seen.push(each)
  } catch (thrown) {
    if (isNotOffered(thrown)) return undefined
    throw thrown
  }
  const wanted = seen.flatMap((one) => {
    const known = describe(one)
    return known !== undefined && isWanted(known) ? [{ known, addresses: one?.metadata?.addresses }] : []
  })
  return Promise.all(
    wanted.map(async ({ known, addresses }) => ({
      ...known,
      addresses: addresses?.map(lower) ?? (await listAddresses(service, known.id, signal)),
    })),
  )
}

/** Whether a service answered that it has no such operation. */
export function isNotOffered(thrown: unknown): boolean {
  return thrown instanceof ExportError && [404, 405, 501].includes(thrown.status ?? 0)
}

function describe(webhook: Webhook | null): Omit<FoundWebhook, 'addresses'> | undefined {
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
      for (const each of addresses.map(lower)) all.push(each)
  } catch (thrown) {
    if (!isNotOffered(thrown)) throw thrown
  }
  return all
}

const lower = (address: string) => textOf(address).toLowerCase()

/** Text or a number as text; anything else, which a service may send too, is none. */
function textOf(value: unknown): string {
  return typeof value === 'string' || typeof value === 'number' ? String(value) : ''
}
