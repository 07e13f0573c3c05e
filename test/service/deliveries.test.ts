import { createHmac } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:http'
import { expect, onTestFinished, test } from 'vitest'
import { createDataService } from '../../src/service/create-data-service.ts'
import type { DataService, DataServiceOptions } from '../../src/service/data-service.ts'
import type { DeliveryOutcome } from '../../src/service/webhooks/courier.ts'
import { askAll, tell, walletPath } from './ask.ts'
import { manualTimers, type Received, startReceiver } from './receiver.ts'

const BUSIEST = '0xa548f4431ec271b95b8BDf86c85147C3bBBC5A4f'
const INTERNAL_ONLY = '0x48A0B31dD707cFb02cbC8706fE88C676630A796b'
const A = '0x00000000000000000000000000000000000000Aa'
const B = '0x00000000000000000000000000000000000000bB'

/** A chain of blocks with one transaction each, from A to B. */
const LAB = [1, 2, 3, 4, 5, 6].map((block) => ({
  nativeTransaction: {
    blockNumber: String(block),
    txHash: `0x${block}`,
    from: { address: A },
    to: { address: B },
  },
}))

function start(options: DataServiceOptions = {}) {
  const service = createDataService({ replay: { chain: 'lab' }, chains: { lab: LAB }, ...options })
  onTestFinished(() => service.close())
  return service
}

async function watch(service: DataService, url: string, more: object = {}) {
  const body = { eventType: 'address_activity', url, chainId: 'lab', metadata: { addresses: [A] }, ...more }
  return (await tell(service, 'POST /v1/webhooks', { body })).body
}

const hashes = (received: readonly Received[]) =>
  received.map(({ body }) => body.event.transaction.txHash as string)

test('delivers what the listings of the watched wallets hold, once, in order', async () => {
  const { url, received } = await startReceiver()
  const service = start({ replay: { from: 200 } })
  const addresses = [BUSIEST.toLowerCase(), INTERNAL_ONLY]
  const webhook = await watch(service, url, { chainId: '43114', metadata: { addresses } })
  await service.advance(20)
  await service.idle()
  const query = 'pageSize=100&startBlock=201&endBlock=221'
  const listed = [
    ...(await askAll(service, walletPath(BUSIEST, query))),
    ...(await askAll(service, walletPath(INTERNAL_ONLY, query))),
  ].map((item) => item.nativeTransaction.txHash)
  expect(new Set(hashes(received))).toEqual(new Set(listed))
  expect(received).toHaveLength(new Set(listed).size)
  const places = received.map(({ body: { event } }) => [
    Number(event.transaction.blockNumber),
    event.transaction.transactionIndex,
  ])
  expect(places).toEqual([...places].sort(([a, c], [b, d]) => a - b || c - d))
  expect(received[0]?.body).toMatchObject({ webhookId: webhook.id, eventType: 'address_activity' })
  expect(new Set(received.map(({ body }) => body.messageId)).size).toBe(received.length)
})

test('adds up the gas of a block', async () => {
  const { url, received } = await startReceiver()
  const service = start({ replay: { from: 236 } })
  await watch(service, url, { chainId: '43114', metadata: { addresses: [BUSIEST] } })
  await service.advance()
  await service.idle()
  const path = '/v1/chains/43114/blocks/237/transactions'
  const native = await askAll<{ txHash: string; gasUsed: string }>(service, path)
  const sums = new Map<string, string>()
  let sum = 0n
  for (const { txHash, gasUsed } of native) {
    sum += BigInt(gasUsed)
    sums.set(txHash, String(sum))
  }
  expect(received.length).toBeGreaterThan(1)
  for (const { body } of received) {
    const { txHash, receiptCumulativeGasUsed } = body.event.transaction
    expect(receiptCumulativeGasUsed).toBe(sums.get(txHash))
  }
})

test('tells each webhook as much as it asked for', async () => {
  const { url, received } = await startReceiver()
  const service = start()
  const plain = await watch(service, url)
  const logs = await watch(service, url, { includeLogs: true })
  await watch(service, url, { metadata: { addresses: [`0x${'1'.repeat(40)}`] } })
  await service.advance()
  await service.idle()
  const eventFor = (id: string) => received.find(({ body }) => body.webhookId === id)?.body.event
  expect(received).toHaveLength(2)
  expect(eventFor(plain.id)).not.toHaveProperty('logs')
  expect(eventFor(plain.id).transaction).not.toHaveProperty('internalTransactions')
  expect(eventFor(logs.id).logs).toEqual([])
})

test('signs nothing before there is a secret, then with the newest one', async () => {
  const { url, received } = await startReceiver()
  const service = start()
  await watch(service, url)
  const step = async () => {
    await service.advance()
    await service.idle()
    return received.at(-1) as Received
  }
  expect((await step()).headers).not.toHaveProperty('x-signature')
  for (const _ of [1, 2]) {
    const { secret } = (await tell(service, 'POST /v1/webhooks:generateOrRotateSharedSecret')).body
    const { headers, body } = await step()
    expect(headers['content-type']).toBe('application/json')
    const canonical = JSON.stringify(sortKeys(body))
    expect(headers['x-signature']).toBe(
      createHmac('sha256', Buffer.from(secret, 'hex')).update(canonical).digest('base64'),
    )
  }
})

function sortKeys(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sortKeys)
  if (typeof value !== 'object' || value === null) return value
  const fields = Object.entries(value).map(([name, field]) => [name, sortKeys(field)] as const)
  return Object.fromEntries(fields.sort(([a], [b]) => (a < b ? -1 : 1)))
}

test('signs the body as it is sent when told', async () => {
  const { url, received } = await startReceiver()
  const service = start({ signature: 'raw' })
  await watch(service, url)
  const { secret } = (await tell(service, 'POST /v1/webhooks:generateOrRotateSharedSecret')).body
  await service.advance()
  await service.idle()
  const { headers, text } = received[0] as Received
  expect(headers['x-signature']).toBe(createHmac('sha256', secret).update(text).digest('base64'))
})

test.for([500, 404, 301, 204, 'nothing'] as const)('tries again after the answer %s', async (answer) => {
  const { url, received, arrived } = await startReceiver((count) => (count < 2 ? answer : 200))
  const timers = manualTimers()
  const outcomes: DeliveryOutcome[] = []
  const service = start({ after: timers.after, onDelivery: (outcome) => outcomes.push(outcome) })
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
  const service = start({ after: timers.after })
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
  const service = start({ after: timers.after, deliveryDelaysMs: [7] })
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
  const service = start({ after: timers.after })
  await watch(service, url)
  await service.advance(3)
  await service.idle()
  timers.pass()
  await service.idle()
  expect(hashes(received)).toEqual(['0x1', '0x2', '0x3', '0x1'])
})

test('tries again where the webhook is now, and nowhere once it is inactive', async () => {
  const [old, moved] = [await startReceiver(() => 500), await startReceiver(() => 500)]
  const timers = manualTimers()
  const service = start({ after: timers.after })
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
})

test('follows the addresses of a webhook as they come and go', async () => {
  const { url, received } = await startReceiver()
  const service = start()
  const { id } = await watch(service, url, { metadata: { addresses: [] } })
  const step = async () => {
    await service.advance()
    await service.idle()
  }
  const body = { addresses: [B.toLowerCase()] }
  await step()
  await tell(service, `PATCH /v1/webhooks/${id}/addresses`, { body })
  await step()
  await tell(service, `DELETE /v1/webhooks/${id}/addresses`, { body })
  await step()
  expect(hashes(received)).toEqual(['0x2'])
})

test.for([
  { how: 'drops', deliver: 'drop', arrive: ['0x1', '0x3', '0x4', '0x5'] },
  {
    how: 'doubles',
    deliver: 'double',
    arrive: ['0x1', '0x1', '0x2', '0x2', '0x3', '0x3', '0x4', '0x4', '0x5', '0x5'],
  },
  { how: 'shuffles', deliver: 'reverse', arrive: ['0x5', '0x4', '0x3', '0x2', '0x1'] },
] as const)('$how the deliveries of a step when told', async ({ deliver, arrive }) => {
  const ways: Record<typeof deliver, NonNullable<DataServiceOptions['deliver']>> = {
    drop: (deliveries) => deliveries.filter((_, at) => at !== 1),
    double: (deliveries) => deliveries.flatMap((delivery) => [delivery, delivery]),
    reverse: (deliveries) => [...deliveries].reverse(),
  }
  const { url, received } = await startReceiver()
  const service = start({ deliver: ways[deliver] })
  await watch(service, url)
  await service.advance(5)
  await service.idle()
  expect(hashes(received)).toEqual(arrive)
  expect(new Set(received.map(({ body }) => body.messageId)).size).toBe(new Set(arrive).size)
})

test('tries again when nobody listens or the answer breaks off', async () => {
  const broken = createServer((_, response) => {
    response.writeHead(200, { 'content-length': 10 }).write('half')
    response.destroy()
  })
  broken.listen(0, '127.0.0.1')
  await once(broken, 'listening')
  const { port } = broken.address() as { port: number }
  const timers = manualTimers()
  const outcomes: DeliveryOutcome[] = []
  const service = start({ after: timers.after, onDelivery: (outcome) => outcomes.push(outcome) })
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
  const service = start({ after: timers.after })
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
