import { randomBytes, randomUUID } from 'node:crypto'
import { HttpError } from '../http-error.ts'
import type { Webhook } from './webhook.ts'

/** The webhooks and shared secrets of all keys, as long as the service lives. A key sees only its own. */
export type Registry = {
  add(made: Omit<Webhook, 'id' | 'sequence'>): Webhook
  /** The webhook with this id; refuses with 404 one that is unknown or another key's. */
  find(owner: number, id: string): Webhook
  replace(webhook: Webhook): Webhook
  /** In the order they were made. */
  ownedBy(owner: number): Webhook[]
  /** Active webhooks of every key on one chain. */
  activeOn(chainId: string): Webhook[]
  /** The webhook that deliveries go to; undefined where it is not active any more. */
  active(id: string): Webhook | undefined
  /** 64 hex digits; undefined where none was generated. */
  secretOf(owner: number): string | undefined
  /** Makes a new secret; the old one signs nothing any more. */
  rotateSecret(owner: number): string
}

export function createRegistry(): Registry {
  const webhooks = new Map<string, Webhook>()
  const secrets = new Map<number, string>()
  const replace = (webhook: Webhook) => {
    webhooks.set(webhook.id, webhook)
    return webhook
  }
  const all = () => [...webhooks.values()]

  return {
    add: (webhook) => replace({ ...webhook, id: randomUUID(), sequence: webhooks.size }),
    find(owner, id) {
      const webhook = webhooks.get(id)
      if (webhook?.owner === owner) return webhook
      throw new HttpError(404, `There is no webhook ${JSON.stringify(id)} here.`)
    },
    replace,
    ownedBy: (owner) => all().filter((webhook) => webhook.owner === owner),
    activeOn: (chainId) =>
      all().filter((webhook) => webhook.chainId === chainId && webhook.status === 'active'),
    active(id) {
      const webhook = webhooks.get(id)
      return webhook?.status === 'active' ? webhook : undefined
    },
    secretOf: (owner) => secrets.get(owner),
    rotateSecret(owner) {
      const secret = randomBytes(32).toString('hex')
      secrets.set(owner, secret)
      return secret
    },
  }
}
