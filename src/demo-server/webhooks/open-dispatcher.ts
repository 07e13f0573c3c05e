import { type ClientRequest, request as requestHttp } from 'node:http'
import { request as requestHttps } from 'node:https'
import type { DataServiceOptions } from '../data-service.ts'
import { type ScheduleAfter, scheduleWithTimer } from '../timers.ts'
import { createDeliveryQueue, type Delivery, type DeliveryQueue } from './delivery-queue.ts'
import type { Registry } from './registry.ts'
import { sign } from './sign.ts'

/** Opens the dispatcher of one service, which posts deliveries to the webhooks of the registry. */
export function openDispatcher(options: DataServiceOptions, registry: Registry): DeliveryQueue {
  const { scheduleAfter = scheduleWithTimer, deliveryDelaysMs = RETRY_DELAYS_MS } = options
  const { deliver = (deliveries) => deliveries, onDelivery = () => {}, signature = 'canonical' } = options
  const requests = new Set<ClientRequest>()

  /** Posts to the webhook's current URL, signed with the current secret; unsigned if there is no secret. */
  const attempt = async ({ webhookId, body }: Delivery) => {
    const webhook = registry.active(webhookId)
    if (!webhook) return 'gone'
    const text = JSON.stringify(body)
    const secret = registry.secretOf(webhook.owner)
    const headers = {
      'content-type': 'application/json',
      'content-length': String(Buffer.byteLength(text)),
      'user-agent': 'walletlake-service',
      ...(secret === undefined ? {} : { 'x-signature': sign({ secret, body, text }, signature) }),
    }
    const openRequest = webhook.url.startsWith('https:') ? requestHttps : requestHttp
    const request = openRequest(webhook.url, { method: 'POST', agent: false, headers })
    requests.add(request)
    const status = await statusOf(request, text, scheduleAfter)
    requests.delete(request)
    return status
  }
  const queue = createDeliveryQueue({
    attempt,
    delaysMs: deliveryDelaysMs,
    scheduleAfter,
    onOutcome: onDelivery,
  })
  return {
    send: (deliveries) => queue.send(deliver(deliveries)),
    idle: queue.idle,
    close() {
      queue.close()
      for (const request of requests) request.destroy()
    },
  }
}

const TIMEOUT_MS = 10_000
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

/** Sends a request, and returns the status of the response; undefined if no complete response arrived in time. */
async function statusOf(
  request: ClientRequest,
  text: string,
  scheduleAfter: ScheduleAfter,
): Promise<number | undefined> {
  const cancel = scheduleAfter(TIMEOUT_MS, () => request.destroy())
  const status = await new Promise<number | undefined>((resolve) => {
    request.on('error', () => resolve(undefined))
    request.on('close', () => resolve(undefined))
    request.on('response', (response) => {
      response.on('error', () => resolve(undefined))
      response.on('end', () => resolve(response.statusCode))
      response.resume()
    })
    request.end(text)
  })
  cancel()
  return status
}
