import type { JsonObject } from '../json.ts'
import type { ScheduleAfter } from '../timers.ts'

/** One message for one webhook. `body` is posted as JSON. */
export type Delivery = { readonly webhookId: string; readonly messageId: string; readonly body: JsonObject }

/** Outcome of one attempt. */
export type DeliveryOutcome = Delivery & {
  /** Number of the attempt, starting at 1. */
  readonly attempt: number
  /** Status of the receiver's response; undefined if none arrived in time. */
  readonly status: number | undefined
  /** Delay before the next attempt, in milliseconds; undefined if the message was delivered or given up. */
  readonly nextDelayMs: number | undefined
}

export type DeliveryQueueOptions = {
  /** Attempts a delivery once and returns the response status, or `gone` if the webhook is not active any more. */
  readonly attempt: (delivery: Delivery) => Promise<number | undefined | 'gone'>
  /** Delays between attempts, in milliseconds. After the last one, the delivery is given up. */
  readonly delaysMs: readonly number[]
  readonly scheduleAfter: ScheduleAfter
  readonly onOutcome: (outcome: DeliveryOutcome) => void
}

export type DeliveryQueue = {
  send(deliveries: readonly Delivery[]): void
  /** Resolves when no attempt is in progress or queued. Deliveries that wait for their next attempt do not count. */
  idle(): Promise<void>
  /** Cancels all scheduled attempts. Queued deliveries are not attempted any more. */
  close(): void
}

/**
 * Creates the delivery queue. Each webhook gets one attempt at a time, in the order of sending; webhooks are independent of
 * each other. Only a response with status 200 counts as delivered. A retry goes to the end of the webhook's queue.
 */
export function createDeliveryQueue({
  attempt,
  delaysMs,
  scheduleAfter,
  onOutcome,
}: DeliveryQueueOptions): DeliveryQueue {
  const queues = new Map<string, Promise<void>>()
  const scheduled = new Set<() => void>()
  const state = { closed: false }

  const enqueue = (delivery: Delivery, number: number) => {
    const previous = queues.get(delivery.webhookId) ?? Promise.resolve()
    const finished = previous.then(() => attemptOnce(delivery, number))
    queues.set(delivery.webhookId, finished)
  }
  const attemptOnce = async (delivery: Delivery, number: number) => {
    if (state.closed) return
    const status = await attempt(delivery).catch(() => undefined)
    if (status === 'gone' || state.closed) return
    const nextDelayMs = status === 200 ? undefined : delaysMs[number - 1]
    if (nextDelayMs !== undefined) schedule(nextDelayMs, () => enqueue(delivery, number + 1))
    onOutcome({ ...delivery, attempt: number, status, nextDelayMs })
  }
  const schedule = (delayMs: number, run: () => void) => {
    const cancel = scheduleAfter(delayMs, () => {
      scheduled.delete(cancel)
      run()
    })
    scheduled.add(cancel)
  }

  return {
    send(deliveries) {
      for (const delivery of deliveries) enqueue(delivery, 1)
    },
    idle: () => waitForDeliveries(queues),
    close() {
      state.closed = true
      for (const cancel of scheduled) cancel()
      scheduled.clear()
    },
  }
}

/** Waits for all queues, and again if one of them has grown meanwhile. */
async function waitForDeliveries(queues: ReadonlyMap<string, Promise<void>>): Promise<void> {
  for (;;) {
    const pending = [...queues.values()]
    await Promise.all(pending)
    if ([...queues.values()].every((queue, at) => queue === pending[at])) return
  }
}
