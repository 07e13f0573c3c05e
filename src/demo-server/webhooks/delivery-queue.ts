import type { JsonObject } from '../json.ts'
import type { ScheduleAfter } from '../timers.ts'

/** One message for one webhook; `body` is what is posted, as JSON. */
export type Delivery = { readonly webhookId: string; readonly messageId: string; readonly body: JsonObject }

/** What became of one try. */
export type DeliveryOutcome = Delivery & {
  /** 1 for the first. */
  readonly attempt: number
  /** Of the receiver's answer; undefined: it gave none in time. */
  readonly status: number | undefined
  /** Wait before the next try, in milliseconds; undefined: there is none, for it arrived or was given up. */
  readonly nextDelayMs: number | undefined
}

export type DeliveryQueueOptions = {
  /** Tries once, and gives the status; `gone`: there is nobody to deliver to any more. */
  readonly attempt: (delivery: Delivery) => Promise<number | undefined | 'gone'>
  /** Waits between the tries, in milliseconds; after the last one it is given up. */
  readonly delaysMs: readonly number[]
  readonly scheduleAfter: ScheduleAfter
  readonly onOutcome: (outcome: DeliveryOutcome) => void
}

export type DeliveryQueue = {
  send(deliveries: readonly Delivery[]): void
  /** Resolves when no try is under way or due; what waits for its next try does not count. */
  idle(): Promise<void>
  /** Calls off everything that waits; what is due is not tried any more. */
  close(): void
}

/**
 * Creates the courier: one try at a time to each webhook, in the order of sending, all webhooks side by side. Only an
 * answer of 200 counts; a try that fails waits for its next one, behind what was sent since.
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
    const finished = previous.then(() => tryOnce(delivery, number))
    queues.set(delivery.webhookId, finished)
  }
  const tryOnce = async (delivery: Delivery, number: number) => {
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

/** Waits until no line has grown while it was waited for. */
async function waitForDeliveries(queues: ReadonlyMap<string, Promise<void>>): Promise<void> {
  for (;;) {
    const pending = [...queues.values()]
    await Promise.all(pending)
    if ([...queues.values()].every((queue, at) => queue === pending[at])) return
  }
}
