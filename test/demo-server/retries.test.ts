import { once } from 'node:events'
import { createServer } from 'node:http'
import { expect, test } from 'vitest'
import type { DeliveryOutcome } from '../../src/demo-server/webhooks/delivery-queue.ts'
import { listenOnLoopback } from '../helpers/serve.ts'
import { manualTimers, startReceiver } from './receiver.ts'
import { hashesOf, startReplay, watch } from './replayed-chain.ts'
import { sendRequest } from './requests.ts'

test.for([500, 404, 301, 204, 'nothing'] as const)('retries after the response %s', async (response) => {
  const { url, received, arrived } = await startReceiver((count) => (count < 2 ? response : 200))
  const timers = manualTimers()
  const outcomes: DeliveryOutcome[] = []
  const service = startReplay({
    scheduleAfter: timers.after,
    onDelivery: (outcome) => outcomes.push(outcome),
  })
  await watch(service, url)
  await service.advance()
  for (const [at, waited] of [10_000, 60_000].entries()) {
    await arrived(at + 1)
    if (response === 'nothing') {
      expect(timers.delays()).toEqual([10_000])
      timers.pass()
    }
    await service.idle()
    expect(timers.delays()).toEqual([waited])
    timers.pass()
  }
  await service.idle()
  expect(timers.delays()).toEqual([])
  const [first, ...more] = received.map(({ text }) => text)
  expect(more).toEqual([first, first])
  const status = response === 'nothing' ? undefined : response
  expect(outcomes).toMatchObject([
    { attempt: 1, status, nextDelayMs: 10_000 },
    { attempt: 2, status, nextDelayMs: 60_000 },
    { attempt: 3, status: 200, nextDelayMs: undefined },
  ])
})

test('gives up after nine retries', async () => {
  const { url, received } = await startReceiver(() => 500)
  const timers = manualTimers()
  const service = startReplay({ scheduleAfter: timers.after })
  await watch(service, url)
  await service.advance()
  await service.idle()
  const waited: number[] = []
  while (timers.delays().length > 0) {
    waited.push(...timers.delays())
    timers.pass()
    await service.idle()
  }
  const minutes = waited.slice(1).map((ms) => ms / 60_000)
  expect([waited[0], ...minutes]).toEqual([10_000, 1, 5, 10, 30, 120, 360, 720, 1440])
  expect(received).toHaveLength(10)
})

test('uses the configured retry delays', async () => {
  const { url } = await startReceiver(() => 500)
  const timers = manualTimers()
  const service = startReplay({ scheduleAfter: timers.after, deliveryDelaysMs: [7] })
  await watch(service, url)
  await service.advance()
  await service.idle()
  expect(timers.delays()).toEqual([7])
  timers.pass()
  await service.idle()
  expect(timers.delays()).toEqual([])
})

test('does not delay later deliveries after a failed one', async () => {
  const { url, received } = await startReceiver((count) => (count === 0 ? 500 : 200))
  const timers = manualTimers()
  const service = startReplay({ scheduleAfter: timers.after })
  await watch(service, url)
  await service.advance(3)
  await service.idle()
  timers.pass()
  await service.idle()
  expect(hashesOf(received)).toEqual(['0x1', '0x2', '0x3', '0x1'])
})

test('retries at the current URL of the webhook, and not at all when it is inactive', async () => {
  const [old, moved] = [await startReceiver(() => 500), await startReceiver(() => 500)]
  const timers = manualTimers()
  const outcomes: DeliveryOutcome[] = []
  const service = startReplay({
    scheduleAfter: timers.after,
    onDelivery: (outcome) => outcomes.push(outcome),
  })
  const { id } = await watch(service, old.url)
  await service.advance()
  await service.idle()
  await sendRequest(service, `PATCH /v1/webhooks/${id}`, { body: { url: moved.url } })
  timers.pass()
  await service.idle()
  expect([old.received.length, moved.received.length]).toEqual([1, 1])
  await sendRequest(service, `DELETE /v1/webhooks/${id}`)
  timers.pass()
  await service.advance()
  await service.idle()
  expect([old.received.length, moved.received.length]).toEqual([1, 1])
  expect(timers.delays()).toEqual([])
  expect(outcomes).toHaveLength(2)
})

test('retries if nothing listens on the port or the response is truncated', async () => {
  const broken = createServer((_, response) => {
    response.writeHead(200, { 'content-length': 10 }).write('half', () => response.destroy())
  })
  const port = await listenOnLoopback(broken)
  const timers = manualTimers()
  const outcomes: DeliveryOutcome[] = []
  const service = startReplay({
    scheduleAfter: timers.after,
    onDelivery: (outcome) => outcomes.push(outcome),
  })
  await watch(service, `http://127.0.0.1:${port}/`)
  await service.advance()
  await service.idle()
  broken.close()
  await once(broken, 'close')
  timers.pass()
  await service.idle()
  expect(outcomes.map(({ status, nextDelayMs }) => [status, nextDelayMs])).toEqual([
    [undefined, 10_000],
    [undefined, 60_000],
  ])
})

test('close aborts attempts in progress and cancels scheduled ones', async () => {
  const waits = await startReceiver(() => 500)
  const hangs = await startReceiver(() => 'nothing')
  const timers = manualTimers()
  const service = startReplay({ scheduleAfter: timers.after })
  const arrived = once(hangs.server, 'connection')
  await watch(service, waits.url)
  await service.advance()
  await service.idle()
  await watch(service, hangs.url)
  await service.advance(2)
  const [socket] = await arrived
  const ended = once(socket, 'close')
  service.close()
  await service.idle()
  await ended
  expect(timers.delays()).toEqual([])
  expect(hangs.received.length).toBeLessThan(2)
})
