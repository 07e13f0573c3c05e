import { ExportError } from '../core/model/errors.ts'
import { deleteOrEmptyWebhook } from './delete-webhook.ts'
import { type FoundWebhook, findWebhooks, isUnsupported } from './find-webhooks.ts'
import { planWebhooks, type WatchedAddresses } from './plan-webhooks.ts'
import type { WebhookService } from './webhook-service.ts'

export type Reconciliation = {
  /** Receiver, with the unguessable token as its last segment: what has it is ours. */
  url: string
  token: string
  /** Label of what is created. */
  name: string
  chain: string
  /** To be watched, lower case, each once. */
  desired: readonly string[]
  /** Addresses that one webhook may watch. */
  maxAddresses: number
  /** What was kept last, for services that do not list webhooks. */
  saved: readonly WatchedAddresses[]
  /** Told what there is, whenever that may have changed. */
  save: (webhooks: readonly WatchedAddresses[]) => Promise<void>
  signal?: AbortSignal | undefined
}

export type ReconcileResult = { webhooks: number; created: number; changed: number; dropped: number }

/** Rounds until what the service shows is what was wanted. */
const MAX_ROUNDS = 4

/**
 * Creates, fills, empties, activates and drops webhooks until ours together watch what is wanted, each address once.
 * Where an answer was lost, or a webhook is gone, it is seen again what there is. Throws what the service refuses.
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
    } catch (thrown) {
      if (!(thrown instanceof ExportError && thrown.mayHaveActed) || round === MAX_ROUNDS) throw thrown
    } finally {
      saved = [...current].map(([id, addresses]) => ({ id, addresses }))
      await desiredState.save(saved)
    }
  }
}

/** `seen`: as the service lists it, and not only as it is remembered. */
type OwnWebhook = WatchedAddresses & { active: boolean; listed: boolean }

/** Our webhooks, active ones first; what another receiver address or chain has left behind is dropped. */
async function findOwnWebhooks(service: WebhookService, desiredState: Reconciliation): Promise<OwnWebhook[]> {
  const { url, token, chain, saved, signal } = desiredState
  const isOurs = (webhook: { url: string }) => webhook.url.endsWith(`/${token}`)
  const found = await findWebhooks(service, isOurs, signal)
  if (found === undefined) return saved.map((webhook) => ({ ...webhook, active: true, listed: false }))
  const isCurrent = (webhook: FoundWebhook) => webhook.url === url && webhook.chain === chain
  const obsolete = found.filter((webhook) => !isCurrent(webhook) && webhook.status !== 'inactive')
  await forEachConcurrently(obsolete, (webhook) => deleteOrEmptyWebhook(service, webhook, signal))
  return found
    .filter(isCurrent)
    .map(({ id, addresses, status }) => ({ id, addresses, active: status !== 'inactive', listed: true }))
    .sort((a, b) => Number(b.active) - Number(a.active))
}

type PlanContext = {
  service: WebhookService
  own: readonly OwnWebhook[]
  desiredState: Reconciliation
  counts: Omit<ReconcileResult, 'webhooks'>
  /** What there is, by id; follows each change. */
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
    current.set(await createWebhook(service, { addresses, desiredState }), addresses)
    counts.created += 1
  })
  await forEachConcurrently(dropped, async (webhook) => {
    if (webhook.active) await deleteOrEmptyWebhook(service, webhook, signal)
    if (webhook.active) counts.dropped += 1
    current.delete(webhook.id)
  })
}

type Change = { remove: string[]; add: string[] }

/** One that is only remembered is told all its addresses again: that shows whether it is still there. */
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
  } catch (thrown) {
    if (!isUnsupported(thrown)) throw thrown
    current.delete(id)
    throw new ExportError('REQUEST_REFUSED', `webhook ${id} is gone`, { cause: thrown, mayHaveActed: true })
  }
  current.set(id, [...retained, ...add])
  if (remove.length + add.length > 0) counts.changed += 1
}

/** All at once, within the service's concurrency; waits for every one before it throws. */
async function forEachConcurrently<T>(
  items: readonly T[],
  work: (item: T) => Promise<unknown>,
): Promise<void> {
  const results = await Promise.allSettled(items.map(work))
  for (const result of results) if (result.status === 'rejected') throw result.reason
}

type NewWebhook = { addresses: readonly string[]; desiredState: Reconciliation }

async function createWebhook(
  service: WebhookService,
  { addresses, desiredState }: NewWebhook,
): Promise<string> {
  const { url, chain, name, signal } = desiredState
  const webhook = {
    eventType: 'address_activity',
    url,
    chainId: chain,
    name,
    metadata: { addresses },
  } as const
  const { id } = await service.createWebhook(webhook, { signal }).catch(addAddressLimitHint)
  if (typeof id === 'string') return id
  throw new ExportError('PAGE_MALFORMED', 'creating a webhook: the answer has no id', { mayHaveActed: true })
}

function addAddressLimitHint(thrown: unknown): never {
  if (!(thrown instanceof ExportError) || thrown.status !== 400) throw thrown
  throw new ExportError(thrown.code, thrown.message, {
    cause: thrown,
    status: 400,
    fix: 'Set --addresses-per-webhook to what your plan allows, and check chain and --receiver-url.',
  })
}
