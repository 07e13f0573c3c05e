import { expect, test } from 'vitest'
import { createDeliveryQueue, type Delivery } from '../../src/demo-server/webhooks/delivery-queue.ts'
import { manualTimers } from './receiver.ts'

/** A delivery queue whose attempts remain in progress until the test responds to them. */
function startQueue() {
  const inProgress: { delivery: Delivery; respond: (status: number) => void }[] = []
  const attempt = (delivery: Delivery) =>
    new Promise<number>((respond) => {
      inProgress.push({ delivery, respond })
    })
  const { after: scheduleAfter } = manualTimers()
  const queue = createDeliveryQueue({ attempt, delaysMs: [], scheduleAfter, onOutcome: () => {} })
  const attempted = () => inProgress.map(({ delivery }) => `${delivery.webhookId}${delivery.messageId}`)
  return { queue, inProgress, attempted }
}

const deliver = (webhookId: string, messageId: string): Delivery => ({ webhookId, messageId, body: {} })
/** Waits until all pending promise callbacks have run. */
const waitForPending = () => new Promise((resolve) => setImmediate(resolve))

test('attempts one delivery at a time per webhook, and several webhooks concurrently', async () => {
  const { queue, inProgress, attempted } = startQueue()
  queue.send([deliver('a', '1'), deliver('a', '2'), deliver('b', '1')])
  await waitForPending()
  expect(attempted()).toEqual(['a1', 'b1'])
  inProgress[0]?.respond(200)
  await waitForPending()
  expect(attempted()).toEqual(['a1', 'b1', 'a2'])
})

test('is idle when all attempts have ended, including those sent while waiting', async () => {
  const { queue, inProgress } = startQueue()
  queue.send([deliver('a', '1')])
  const state = { idle: false }
  const idle = queue.idle().then(() => {
    state.idle = true
  })
  queue.send([deliver('a', '2')])
  await waitForPending()
  inProgress[0]?.respond(200)
  await waitForPending()
  expect(state.idle).toBe(false)
  inProgress[1]?.respond(500)
  await idle
  expect(state.idle).toBe(true)
})

test('continues after an attempt that throws', async () => {
  const outcomes: (number | undefined)[] = []
  const attempt = async ({ messageId }: Delivery) => {
    if (messageId === '1') throw new Error('inside')
    return 200
  }
  const { after: scheduleAfter, delays } = manualTimers()
  const onOutcome = ({ status }: { status: number | undefined }) => outcomes.push(status)
  const queue = createDeliveryQueue({ attempt, delaysMs: [5], scheduleAfter, onOutcome })
  queue.send([deliver('a', '1'), deliver('a', '2')])
  await queue.idle()
  expect(outcomes).toEqual([undefined, 200])
  expect(delays()).toEqual([5])
})
