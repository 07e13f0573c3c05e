import { ExportError } from '../core/model/errors.ts'
import { planWebhooks, type WatchedAddresses } from './plan-webhooks.ts'
import type { WebhookService } from './webhooks.ts'
import { deleteOrEmptyWebhook, type FoundWebhook, findWebhooks, isUnsupported } from './webhooks.ts'

export type Reconciliation = {
  /** Receiver URL. Its last segment is the secret token, which identifies this job's webhooks. */
  url: string
  token: string
  /** Name of created webhooks. */
  name: string
  chain: string
  /** Unique addresses to watch, in lower case. */
  desired: readonly string[]
  /** Maximum number of addresses per webhook. */
  maxAddresses: number
  /** Webhooks as last saved, for APIs that do not list webhooks. */
  saved: readonly WatchedAddresses[]
  /** Saves the current webhooks; called whenever they may have changed. */
  save: (webhooks: readonly WatchedAddresses[]) => Promise<void>
  signal?: AbortSignal | undefined
}

export type ReconcileResult = { webhooks: number; created: number; changed: number; dropped: number }

/** Maximum number of attempts to reach the desired state. */
const MAX_ROUNDS = 4

/**
 * Creates, changes, activates and deletes webhooks until they watch each desired address exactly once. If a response
 * was lost or a webhook no longer exists, lists the webhooks again and starts over.
 *
 * @throws ExportError the errors of failed requests
 */
export async function reconcileWebhooks(
  service: WebhookService,
  desiredState: Reconciliation,
): Promise<ReconcileResult> {
  const counts = { created: 0, changed: 0, dropped: 0 }
  let saved = desiredState.saved
  for (let round = 1; ; round += 1) {
    const own = await findOwnWebhooks(service, { ...desiredState, saved })
    const current = new Map<string, readonly string[]>(own.map(({ id, addresses }) => [id, addresses]))
    try {
      await applyPlan({ service, own, desiredState, counts, current })
      return { ...counts, webhooks: current.size }
    } catch (error) {
      if (!(error instanceof ExportError && error.mayHaveActed) || round === MAX_ROUNDS) throw error
    } finally {
      saved = [...current].map(([id, addresses]) => ({ id, addresses }))
      await desiredState.save(saved)
    }
  }
}

/** `listed`: whether the service listed the webhook; otherwise it is known only from the saved state. */
type OwnWebhook = WatchedAddresses & { active: boolean; listed: boolean }

/** Finds this job's webhooks, active ones first, and deletes those with another receiver URL or chain. */
async function findOwnWebhooks(service: WebhookService, desiredState: Reconciliation): Promise<OwnWebhook[]> {
  const { url, token, chain, saved, signal } = desiredState
  const isOurs = (webhook: { url: string }) => webhook.url.endsWith(`/${token}`)
  const ownWebhooks = await findWebhooks(service, isOurs, signal)
  if (ownWebhooks === undefined) return saved.map((webhook) => ({ ...webhook, active: true, listed: false }))
  const isCurrent = (webhook: FoundWebhook) => webhook.url === url && webhook.chain === chain
  const obsolete = ownWebhooks.filter((webhook) => !isCurrent(webhook) && webhook.status !== 'inactive')
  await forEachConcurrently(obsolete, (webhook) => deleteOrEmptyWebhook(service, webhook, signal))
  return ownWebhooks
    .filter(isCurrent)
    .map(({ id, addresses, status }) => ({ id, addresses, active: status !== 'inactive', listed: true }))
    .sort((a, b) => Number(b.active) - Number(a.active))
}

type PlanContext = {
  service: WebhookService
  own: readonly OwnWebhook[]
  desiredState: Reconciliation
  counts: Omit<ReconcileResult, 'webhooks'>
  /** Addresses by webhook id; updated after each change. */
  current: Map<string, readonly string[]>
}

async function applyPlan(context: PlanContext): Promise<void> {
  const { service, own, desiredState, counts, current } = context
  const { desired, maxAddresses, signal } = desiredState
  const plan = planWebhooks({ desired, maxAddresses, webhooks: own })
  const dropped = own.filter(({ id }) => plan.drop.includes(id))
  const remaining = own.filter(({ id }) => !plan.drop.includes(id))
  await forEachConcurrently(remaining, (webhook) =>
    changeWebhook(
      context,
      webhook,
      plan.change.find(({ id }) => id === webhook.id),
    ),
  )
  await forEachConcurrently(plan.create, async (addresses) => {
    current.set(await createWebhook(service, addresses, desiredState), addresses)
    counts.created += 1
  })
  await forEachConcurrently(dropped, async (webhook) => {
    if (webhook.active) await deleteOrEmptyWebhook(service, webhook, signal)
    if (webhook.active) counts.dropped += 1
    current.delete(webhook.id)
  })
}

type Change = { remove: string[]; add: string[] }

/**
 * Applies a change to a webhook. For one that is known only from the saved state, adds all its addresses again, which
 * reveals whether it still exists.
 */
async function changeWebhook(
  context: PlanContext,
  { id, addresses, active, listed }: OwnWebhook,
  change?: Change,
) {
  const { service, desiredState, counts, current } = context
  const { signal } = desiredState
  const { remove, add } = change ?? { remove: [], add: [] }
  const retained = addresses.filter((address) => !remove.includes(address))
  const toAdd = listed ? add : [...retained, ...add]
  try {
    if (remove.length > 0) await service.removeWebhookAddresses({ id, addresses: remove }, { signal })
    if (toAdd.length > 0)
      await service.addWebhookAddresses({ id, addresses: toAdd }, { signal }).catch(addAddressLimitHint)
    if (!active) await service.updateWebhook({ id, status: 'active' }, { signal })
  } catch (error) {
    if (!isUnsupported(error)) throw error
    current.delete(id)
    throw new ExportError('REQUEST_REFUSED', `webhook ${id} no longer exists`, {
      cause: error,
      mayHaveActed: true,
    })
  }
  current.set(id, [...retained, ...add])
  if (remove.length + add.length > 0) counts.changed += 1
}

/** Runs all items concurrently (the client limits its requests). Waits for all of them before it throws. */
async function forEachConcurrently<T>(
  items: readonly T[],
  work: (item: T) => Promise<unknown>,
): Promise<void> {
  const results = await Promise.allSettled(items.map(work))
  for (const result of results) if (result.status === 'rejected') throw result.reason
}

async function createWebhook(
  service: WebhookService,
  addresses: readonly string[],
  { url, chain, name, signal }: Reconciliation,
): Promise<string> {
  const webhook = {
    eventType: 'address_activity',
    url,
    chainId: chain,
    name,
    metadata: { addresses },
  } as const
  const { id } = await service.createWebhook(webhook, { signal }).catch(addAddressLimitHint)
  if (typeof id === 'string') return id
  throw new ExportError('PAGE_MALFORMED', 'creating a webhook: the response has no id', {
    mayHaveActed: true,
  })
}

const isAddressLimit = ({ status, message }: ExportError): boolean =>
  status === 400 || (status === 403 && /answered 403: .*\baddress/i.test(message))

function addAddressLimitHint(error: unknown): never {
  if (!(error instanceof ExportError) || error.status === undefined || !isAddressLimit(error)) throw error
  throw new ExportError(error.code, error.message, {
    cause: error,
    status: error.status,
    fix: 'Set --addresses-per-webhook to the limit of your plan, and check the chain and --receiver-url.',
  })
}
