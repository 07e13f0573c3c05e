import type { DataServiceOptions } from '../data-service.ts'
import { scheduleWithTimer } from '../timers.ts'
import { createDeliveryQueue, type Delivery } from './delivery-queue.ts'
import { createHttpPoster, type HttpPoster } from './http-poster.ts'
import type { Registry } from './registry.ts'
import { sign } from './sign.ts'

export type Dispatcher = {
  send(deliveries: readonly Delivery[]): void
  /** Resolves when no try is under way or due. */
  idle(): Promise<void>
  /** Ends every try, and calls off those to come. */
  close(): void
}

/** Opens the post office of one service: it delivers to the webhooks of a registry as its options say. */
export function openDispatcher(options: DataServiceOptions, registry: Registry): Dispatcher {
  const {
    scheduleAfter = scheduleWithTimer,
    deliveryDelaysMs = RETRY_DELAYS_MS,
    deliveryTimeoutMs = 10_000,
  } = options
  const { deliver = (deliveries) => deliveries, onDelivery = () => {} } = options
  const poster = createHttpPoster({ scheduleAfter, timeoutMs: deliveryTimeoutMs })
  const deliveryQueue = createDeliveryQueue({
    attempt: (delivery) => postDelivery(delivery, { options, registry, poster }),
    delaysMs: deliveryDelaysMs,
    scheduleAfter,
    onOutcome: onDelivery,
  })
  return {
    send: (deliveries) => deliveryQueue.send(deliver(deliveries)),
    idle: deliveryQueue.idle,
    close() {
      deliveryQueue.close()
      poster.close()
    },
  }
}

const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS
const RETRY_DELAYS_MS = [
  ...[10_000, MINUTE_MS, 5 * MINUTE_MS, 10 * MINUTE_MS, 30 * MINUTE_MS],
  ...[2 * HOUR_MS, 6 * HOUR_MS, 12 * HOUR_MS, 24 * HOUR_MS],
]

type DispatcherContext = { options: DataServiceOptions; registry: Registry; poster: HttpPoster }

/** Posts to where the webhook is now, signed with the secret of now; without a secret it goes unsigned. */
async function postDelivery({ webhookId, body }: Delivery, { options, registry, poster }: DispatcherContext) {
  const webhook = registry.active(webhookId)
  if (!webhook) return 'gone'
  const text = JSON.stringify(body)
  const secret = registry.secretOf(webhook.owner)
  const signature =
    secret === undefined
      ? {}
      : { 'x-signature': sign({ secret, body, text }, options.signature ?? 'canonical') }
  const headers = { 'content-type': 'application/json', 'user-agent': 'walletlake-service', ...signature }
  return poster.post({ url: webhook.url, headers, text })
}
