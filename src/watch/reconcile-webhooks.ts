import { ExportError } from '../core/model/errors.ts'
import { dropWebhook } from './delete-webhook.ts'
import { type FoundWebhook, findWebhooks, isNotOffered } from './find-webhooks.ts'
import { planWebhooks, type Watching } from './plan-webhooks.ts'
import type { WebhookService } from './webhook-service.ts'

export type Keeping = {
  /** Receiver, with the unguessable token as its last segment: what has it is ours. */
  url: string
  token: string
  /** Label of what is created. */
  name: string
  chain: string
  /** To be watched, lower case, each once. */
  wanted: readonly string[]
  /** Addresses that one webhook may watch. */
  most: number
  /** What was kept last, for services that do not list webhooks. */
  remembered: readonly Watching[]
  /** Told what there is, whenever that may have changed. */
  remember: (webhooks: readonly Watching[]) => Promise<void>
  signal?: AbortSignal | undefined
}

export type Kept = { webhooks: number; created: number; changed: number; dropped: number }

/** Rounds until what the service shows is what was wanted. */
const ROUNDS = 4

/**
 * Creates, fills, empties, activates and drops webhooks until ours together watch what is wanted, each address once.
 * Where an answer was lost, or a webhook is gone, it is seen again what there is. Throws what the service refuses.
 */
export async function keepWebhooks(service: WebhookService, keeping: Keeping): Promise<Kept> {
  const counts = { created: 0, changed: 0, dropped: 0 }
  let remembered = keeping.remembered
  for (let round = 1; ; round += 1) {
    const ours = await findOurs(service, { ...keeping, remembered })
    const now = new Map<string, readonly string[]>(ours.map(({ id, addresses }) => [id, addresses]))
    try {
      await applyPlan({ service, ours, keeping, counts, now })
      return { ...counts, webhooks: now.size }
    } catch (thrown) {
      if (!(thrown instanceof ExportError && thrown.mayHaveActed) || round === ROUNDS) throw thrown
    } finally {
      remembered = [...now].map(([id, addresses]) => ({ id, addresses }))
      await keeping.remember(remembered)
    }
  }
}

/** `seen`: as the service lists it, and not only as it is remembered. */
type Ours = Watching & { active: boolean; seen: boolean }

/** Our webhooks, active ones first; what another receiver address or chain has left behind is dropped. */
async function findOurs(service: WebhookService, keeping: Keeping): Promise<Ours[]> {
  const { url, token, chain, remembered, signal } = keeping
  const isOurs = (webhook: { url: string }) => webhook.url.endsWith(`/${token}`)
  const found = await findWebhooks(service, isOurs, signal)
  if (found === undefined) return remembered.map((webhook) => ({ ...webhook, active: true, seen: false }))
  const fits = (webhook: FoundWebhook) => webhook.url === url && webhook.chain === chain
  const left = found.filter((webhook) => !fits(webhook) && webhook.status !== 'inactive')
  await each(left, (webhook) => dropWebhook(service, webhook, signal))
  return found
    .filter(fits)
    .map(({ id, addresses, status }) => ({ id, addresses, active: status !== 'inactive', seen: true }))
    .sort((a, b) => Number(b.active) - Number(a.active))
}

type Applying = {
  service: WebhookService
  ours: readonly Ours[]
  keeping: Keeping
  counts: Omit<Kept, 'webhooks'>
  /** What there is, by id; follows each change. */
  now: Map<string, readonly string[]>
}

async function applyPlan(applying: Applying): Promise<void> {
  const { service, ours, keeping, counts, now } = applying
  const { wanted, most, signal } = keeping
  const plan = planWebhooks({ wanted, most, webhooks: ours })
  const dropped = ours.filter(({ id }) => plan.drop.includes(id))
  const stay = ours.filter(({ id }) => !plan.drop.includes(id))
  await each(stay, (webhook) =>
    changeOne(
      applying,
      webhook,
      plan.change.find(({ id }) => id === webhook.id),
    ),
  )
  await each(plan.create, async (addresses) => {
    now.set(await createOne(service, { addresses, keeping }), addresses)
    counts.created += 1
  })
  await each(dropped, async (webhook) => {
    if (webhook.active) await dropWebhook(service, webhook, signal)
    if (webhook.active) counts.dropped += 1
    now.delete(webhook.id)
  })
}

type Change = { remove: string[]; add: string[] }

/** One that is only remembered is told all its addresses again: that shows whether it is still there. */
async function changeOne(applying: Applying, { id, addresses, active, seen }: Ours, change?: Change) {
  const { service, keeping, counts, now } = applying
  const { signal } = keeping
  const { remove, add } = change ?? { remove: [], add: [] }
  const kept = addresses.filter((address) => !remove.includes(address))
  const told = seen ? add : [...kept, ...add]
  try {
    if (remove.length > 0) await service.removeWebhookAddresses({ id, addresses: remove }, { signal })
    if (told.length > 0) await service.addWebhookAddresses({ id, addresses: told }, { signal }).catch(tooMany)
    if (!active) await service.updateWebhook({ id, status: 'active' }, { signal })
  } catch (thrown) {
    if (!isNotOffered(thrown)) throw thrown
    now.delete(id)
    throw new ExportError('REQUEST_REFUSED', `webhook ${id} is gone`, { cause: thrown, mayHaveActed: true })
  }
  now.set(id, [...kept, ...add])
  if (remove.length + add.length > 0) counts.changed += 1
}

/** All at once, within the service's concurrency; waits for every one before it throws. */
async function each<T>(items: readonly T[], work: (item: T) => Promise<unknown>): Promise<void> {
  const done = await Promise.allSettled(items.map(work))
  for (const one of done) if (one.status === 'rejected') throw one.reason
}

type Creating = { addresses: readonly string[]; keeping: Keeping }

async function createOne(service: WebhookService, { addresses, keeping }: Creating): Promise<string> {
  const { url, chain, name, signal } = keeping
  const webhook = {
    eventType: 'address_activity',
    url,
    chainId: chain,
    name,
    metadata: { addresses },
  } as const
  const { id } = await service.createWebhook(webhook, { signal }).catch(tooMany)
  if (typeof id === 'string') return id
  throw new ExportError('PAGE_MALFORMED', 'creating a webhook: the answer has no id', { mayHaveActed: true })
}

function tooMany(thrown: unknown): never {
  if (!(thrown instanceof ExportError) || thrown.status !== 400) throw thrown
  throw new ExportError(thrown.code, thrown.message, {
    cause: thrown,
    status: 400,
    fix: 'Set --addresses-per-webhook to what your plan allows, and check chain and --receiver-url.',
  })
}
