import type { JsonObject } from '../json.ts'
import type { After } from '../timers.ts'

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

export type CourierOptions = {
  /** Tries once, and gives the status; `gone`: there is nobody to deliver to any more. */
  readonly attempt: (delivery: Delivery) => Promise<number | undefined | 'gone'>
  /** Waits between the tries, in milliseconds; after the last one it is given up. */
  readonly delaysMs: readonly number[]
  readonly after: After
  readonly onOutcome: (outcome: DeliveryOutcome) => void
}

export type Courier = {
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
export function createCourier({ attempt, delaysMs, after, onOutcome }: CourierOptions): Courier {
  const lines = new Map<string, Promise<void>>()
  const waiting = new Set<() => void>()
  const state = { closed: false }

  const queue = (delivery: Delivery, number: number) => {
    const line = lines.get(delivery.webhookId) ?? Promise.resolve()
    const done = line.then(() => tryOnce(delivery, number))
    lines.set(delivery.webhookId, done)
  }
  const tryOnce = async (delivery: Delivery, number: number) => {
    if (state.closed) return
    const status = await attempt(delivery).catch(() => undefined)
    if (status === 'gone' || state.closed) return
    const nextDelayMs = status === 200 ? undefined : delaysMs[number - 1]
    if (nextDelayMs !== undefined) wait(nextDelayMs, () => queue(delivery, number + 1))
    onOutcome({ ...delivery, attempt: number, status, nextDelayMs })
  }
  const wait = (delayMs: number, run: () => void) => {
    const cancel = after(delayMs, () => {
      waiting.delete(cancel)
      run()
    })
    waiting.add(cancel)
  }

  return {
    send(deliveries) {
      for (const delivery of deliveries) queue(delivery, 1)
    },
    idle: () => settle(lines),
    close() {
      state.closed = true
      for (const cancel of waiting) cancel()
      waiting.clear()
    },
  }
}

/** Waits until no line has grown while it was waited for. */
async function settle(lines: ReadonlyMap<string, Promise<void>>): Promise<void> {
  for (;;) {
    const seen = [...lines.values()]
    await Promise.all(seen)
    if ([...lines.values()].every((line, at) => line === seen[at])) return
  }
}
