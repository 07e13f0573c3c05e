import { type ClientRequest, request as requestHttp } from 'node:http'
import { request as requestHttps } from 'node:https'
import type { DataServiceOptions } from '../data-service.ts'
import { type ScheduleAfter, scheduleWithTimer } from '../timers.ts'
import { createDeliveryQueue, type Delivery } from './delivery-queue.ts'
import type { Registry } from './registry.ts'
import { sign } from './sign.ts'

export type Dispatcher = {
  send(deliveries: readonly Delivery[]): void
  /** Resolves when no attempt is in progress or queued. */
  idle(): Promise<void>
  /** Aborts all attempts and cancels the scheduled ones. */
  close(): void
}

/** Opens the dispatcher of one service, which posts deliveries to the webhooks of the registry. */
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
  10_000,
  MINUTE_MS,
  5 * MINUTE_MS,
  10 * MINUTE_MS,
  30 * MINUTE_MS,
  2 * HOUR_MS,
  6 * HOUR_MS,
  12 * HOUR_MS,
  24 * HOUR_MS,
]

type DispatcherContext = { options: DataServiceOptions; registry: Registry; poster: HttpPoster }

/** Posts to the webhook's current URL, signed with the current secret; unsigned if there is no secret. */
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

type HttpPoster = {
  /**
   * Posts a text once over a new connection, without following redirects. Returns the response status, or undefined if no
   * complete response arrived in time.
   */
  post(message: HttpMessage): Promise<number | undefined>
  /** Closes all connections. */
  close(): void
}

type HttpMessage = { readonly url: string; readonly headers: Record<string, string>; readonly text: string }

function createHttpPoster({
  scheduleAfter,
  timeoutMs,
}: {
  scheduleAfter: ScheduleAfter
  timeoutMs: number
}): HttpPoster {
  const open = new Set<ClientRequest>()
  return {
    async post(message) {
      const request = openRequest(message)
      open.add(request)
      const cancel = scheduleAfter(timeoutMs, () => request.destroy())
      const status = await statusOf(request, message.text)
      cancel()
      open.delete(request)
      return status
    },
    close() {
      for (const request of open) request.destroy()
    },
  }
}

function openRequest({ url, headers, text }: HttpMessage): ClientRequest {
  const request = url.startsWith('https:') ? requestHttps : requestHttp
  const length = { 'content-length': String(Buffer.byteLength(text)) }
  return request(url, { method: 'POST', agent: false, headers: { ...headers, ...length } })
}

function statusOf(request: ClientRequest, text: string): Promise<number | undefined> {
  return new Promise((resolve) => {
    request.on('error', () => resolve(undefined))
    request.on('close', () => resolve(undefined))
    request.on('response', (response) => {
      response.on('error', () => resolve(undefined))
      response.on('end', () => resolve(response.statusCode))
      response.resume()
    })
    request.end(text)
  })
}
