import { expect, test } from 'vitest'
import { createDeliveryQueue, type Delivery } from '../../src/demo-server/webhooks/delivery-queue.ts'
import { manualTimers } from './receiver.ts'

/** A courier whose tries are under way until they are answered. */
function startCourier() {
  const underWay: { delivery: Delivery; answer: (status: number) => void }[] = []
  const attempt = (delivery: Delivery) =>
    new Promise<number>((answer) => {
      underWay.push({ delivery, answer })
    })
  const { after: scheduleAfter } = manualTimers()
  const courier = createDeliveryQueue({ attempt, delaysMs: [], scheduleAfter, onOutcome: () => {} })
  const tried = () => underWay.map(({ delivery }) => `${delivery.webhookId}${delivery.messageId}`)
  return { courier, underWay, tried }
}

const deliver = (webhookId: string, messageId: string): Delivery => ({ webhookId, messageId, body: {} })
/** Lets everything that is due be done. */
const settle = () => new Promise((resolve) => setImmediate(resolve))

test('tries one delivery at a time to a webhook, and webhooks side by side', async () => {
  const { courier, underWay, tried } = startCourier()
  courier.send([deliver('a', '1'), deliver('a', '2'), deliver('b', '1')])
  await settle()
  expect(tried()).toEqual(['a1', 'b1'])
  underWay[0]?.answer(200)
  await settle()
  expect(tried()).toEqual(['a1', 'b1', 'a2'])
})

test('is idle once all tries have ended, those that came since too', async () => {
  const { courier, underWay } = startCourier()
  courier.send([deliver('a', '1')])
  const state = { idle: false }
  const idle = courier.idle().then(() => {
    state.idle = true
  })
  courier.send([deliver('a', '2')])
  await settle()
  underWay[0]?.answer(200)
  await settle()
  expect(state.idle).toBe(false)
  underWay[1]?.answer(500)
  await idle
  expect(state.idle).toBe(true)
})

test('goes on after a try that throws', async () => {
  const outcomes: (number | undefined)[] = []
  const attempt = async ({ messageId }: Delivery) => {
    if (messageId === '1') throw new Error('inside')
    return 200
  }
  const { after: scheduleAfter, delays } = manualTimers()
  const onOutcome = ({ status }: { status: number | undefined }) => outcomes.push(status)
  const courier = createDeliveryQueue({ attempt, delaysMs: [5], scheduleAfter, onOutcome })
  courier.send([deliver('a', '1'), deliver('a', '2')])
  await courier.idle()
  expect(outcomes).toEqual([undefined, 200])
  expect(delays()).toEqual([5])
})
