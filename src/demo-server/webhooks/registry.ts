import { randomBytes, randomUUID } from 'node:crypto'
import { HttpError } from '../http-error.ts'

/** The fields of a webhook that its owner sets (interface 4.4), without the addresses. */
export type WebhookFields = {
  readonly url: string
  readonly chainId: string
  readonly name: string
  readonly description: string
  readonly status: 'active' | 'inactive'
  readonly includeInternalTxs: boolean
  readonly includeLogs: boolean
  /** Stored and returned, but not used to filter events, because the interface does not define their meaning. */
  readonly eventSignatures: readonly string[] | undefined
}

export type Webhook = WebhookFields & {
  readonly id: string
  /** Index of the API key that it belongs to. */
  readonly owner: number
  /** Increases with each webhook. */
  readonly sequence: number
  /** Time of creation in Unix milliseconds. */
  readonly createdAt: number
  /** By address in lower case, in the order in which they were added. */
  readonly addresses: ReadonlyMap<string, WatchedAddress>
}

export type WatchedAddress = {
  /** The address in the letter case in which it was first added. */
  readonly text: string
  /** Increases with each address of a webhook. */
  readonly sequence: number
}

/** The webhooks and shared secrets of all API keys, in memory. A key (`owner` is its index) can access only its own. */
export type Registry = ReturnType<typeof createRegistry>

export function createRegistry() {
  const webhooks = new Map<string, Webhook>()
  const secrets = new Map<number, string>()
  const all = () => [...webhooks.values()]
  const replace = (webhook: Webhook) => {
    webhooks.set(webhook.id, webhook)
    return webhook
  }
  return {
    add: (webhook: Omit<Webhook, 'id' | 'sequence'>) =>
      replace({ ...webhook, id: randomUUID(), sequence: webhooks.size }),
    /** Returns the webhook with this id. Throws `HttpError` 404 if it is unknown or belongs to another key. */
    find(owner: number, id: string): Webhook {
      const webhook = webhooks.get(id)
      if (webhook?.owner === owner) return webhook
      throw new HttpError(404, `There is no webhook ${JSON.stringify(id)} here.`)
    },
    replace,
    /** Webhooks of a key in the order of their creation. */
    ownedBy: (owner: number) => all().filter((webhook) => webhook.owner === owner),
    /** Active webhooks of all keys on one chain. */
    activeOn: (chainId: string) =>
      all().filter((webhook) => webhook.chainId === chainId && webhook.status === 'active'),
    /** The webhook with this id; undefined if it is not active. */
    active: (id: string) => all().find((webhook) => webhook.id === id && webhook.status === 'active'),
    /** The shared secret, 64 hex digits; undefined if none was generated. */
    secretOf: (owner: number) => secrets.get(owner),
    /** Generates a new secret, which replaces the old one. */
    rotateSecret(owner: number): string {
      const secret = randomBytes(32).toString('hex')
      secrets.set(owner, secret)
      return secret
    },
  }
}
