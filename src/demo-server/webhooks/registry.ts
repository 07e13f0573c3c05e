import { randomBytes, randomUUID } from 'node:crypto'
import { HttpError } from '../http-error.ts'
import type { Webhook } from './webhook.ts'

/** The webhooks and shared secrets of all API keys, in memory. A key (`owner` is its index) can access only its own. */
export type Registry = {
  add(webhook: Omit<Webhook, 'id' | 'sequence'>): Webhook
  /** Returns the webhook with this id. Throws `HttpError` 404 if it is unknown or belongs to another key. */
  find(owner: number, id: string): Webhook
  replace(webhook: Webhook): Webhook
  /** Webhooks of a key in the order of their creation. */
  ownedBy(owner: number): Webhook[]
  /** Active webhooks of all keys on one chain. */
  activeOn(chainId: string): Webhook[]
  /** The webhook with this id; undefined if it is not active. */
  active(id: string): Webhook | undefined
  /** The shared secret, 64 hex digits; undefined if none was generated. */
  secretOf(owner: number): string | undefined
  /** Generates a new secret, which replaces the old one. */
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
