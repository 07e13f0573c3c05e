import { once } from 'node:events'
import { createServer } from 'node:http'
import { expect, test } from 'vitest'
import type { DeliveryOutcome } from '../../src/demo-server/webhooks/delivery-queue.ts'
import { tell } from './ask.ts'
import { hashesOf, startLab, watch } from './lab.ts'
import { manualTimers, startReceiver } from './receiver.ts'

test.for([500, 404, 301, 204, 'nothing'] as const)('tries again after the answer %s', async (answer) => {
  const { url, received, arrived } = await startReceiver((count) => (count < 2 ? answer : 200))
  const timers = manualTimers()
  const outcomes: DeliveryOutcome[] = []
  const service = startLab({ scheduleAfter: timers.after, onDelivery: (outcome) => outcomes.push(outcome) })
  await watch(service, url)
  await service.advance()
  for (const [at, waited] of [10_000, 60_000].entries()) {
    await arrived(at + 1)
    if (answer === 'nothing') {
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
  const status = answer === 'nothing' ? undefined : answer
  expect(outcomes).toMatchObject([
    { attempt: 1, status, nextDelayMs: 10_000 },
    { attempt: 2, status, nextDelayMs: 60_000 },
    { attempt: 3, status: 200, nextDelayMs: undefined },
  ])
})

test('gives a delivery up after nine further tries', async () => {
  const { url, received } = await startReceiver(() => 500)
  const timers = manualTimers()
  const service = startLab({ scheduleAfter: timers.after })
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

test('waits as told before it tries again', async () => {
  const { url } = await startReceiver(() => 500)
  const timers = manualTimers()
  const service = startLab({ scheduleAfter: timers.after, deliveryDelaysMs: [7] })
  await watch(service, url)
  await service.advance()
  await service.idle()
  expect(timers.delays()).toEqual([7])
  timers.pass()
  await service.idle()
  expect(timers.delays()).toEqual([])
})

test('holds up no later delivery for one that failed', async () => {
  const { url, received } = await startReceiver((count) => (count === 0 ? 500 : 200))
  const timers = manualTimers()
  const service = startLab({ scheduleAfter: timers.after })
  await watch(service, url)
  await service.advance(3)
  await service.idle()
  timers.pass()
  await service.idle()
  expect(hashesOf(received)).toEqual(['0x1', '0x2', '0x3', '0x1'])
})

test('tries again where the webhook is now, and nowhere once it is inactive', async () => {
  const [old, moved] = [await startReceiver(() => 500), await startReceiver(() => 500)]
  const timers = manualTimers()
  const outcomes: DeliveryOutcome[] = []
  const service = startLab({ scheduleAfter: timers.after, onDelivery: (outcome) => outcomes.push(outcome) })
  const { id } = await watch(service, old.url)
  await service.advance()
  await service.idle()
  await tell(service, `PATCH /v1/webhooks/${id}`, { body: { url: moved.url } })
  timers.pass()
  await service.idle()
  expect([old.received.length, moved.received.length]).toEqual([1, 1])
  await tell(service, `DELETE /v1/webhooks/${id}`)
  timers.pass()
  await service.advance()
  await service.idle()
  expect([old.received.length, moved.received.length]).toEqual([1, 1])
  expect(timers.delays()).toEqual([])
  expect(outcomes).toHaveLength(2)
})

test('tries again when nobody listens or the answer breaks off', async () => {
  const broken = createServer((_, response) => {
    response.writeHead(200, { 'content-length': 10 }).write('half', () => response.destroy())
  })
  broken.listen(0, '127.0.0.1')
  await once(broken, 'listening')
  const { port } = broken.address() as { port: number }
  const timers = manualTimers()
  const outcomes: DeliveryOutcome[] = []
  const service = startLab({ scheduleAfter: timers.after, onDelivery: (outcome) => outcomes.push(outcome) })
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

test('ends what is under way and what waits when it closes', async () => {
  const waits = await startReceiver(() => 500)
  const hangs = await startReceiver(() => 'nothing')
  const timers = manualTimers()
  const service = startLab({ scheduleAfter: timers.after })
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
