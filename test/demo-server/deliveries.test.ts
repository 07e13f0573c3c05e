import { createHmac } from 'node:crypto'
import { expect, test } from 'vitest'
import type { DataServiceOptions } from '../../src/demo-server/data-service.ts'
import { type Received, startReceiver } from './receiver.ts'
import { B, hashesOf, startReplay, watch } from './replayed-chain.ts'
import { fetchAll, sendRequest, walletPath } from './requests.ts'

const BUSIEST = '0xa548f4431ec271b95b8BDf86c85147C3bBBC5A4f'
const INTERNAL_ONLY = '0x48A0B31dD707cFb02cbC8706fE88C676630A796b'

test('delivers the transactions in the listings of the watched wallets, once and in order', async () => {
  const { url, received } = await startReceiver()
  const service = startReplay({ replay: { from: 200 } })
  const addresses = [BUSIEST.toLowerCase(), INTERNAL_ONLY]
  const webhook = await watch(service, url, { chainId: '43114', metadata: { addresses } })
  await service.advance(20)
  await service.idle()
  const query = 'pageSize=100&startBlock=201&endBlock=221'
  const listed = [
    ...(await fetchAll(service, walletPath(BUSIEST, query))),
    ...(await fetchAll(service, walletPath(INTERNAL_ONLY, query))),
  ].map((item) => item.nativeTransaction.txHash)
  expect(new Set(hashesOf(received))).toEqual(new Set(listed))
  expect(received).toHaveLength(new Set(listed).size)
  const positions = received.map(({ body: { event } }) => [
    Number(event.transaction.blockNumber),
    event.transaction.transactionIndex,
  ])
  expect(positions).toEqual([...positions].sort(([a, c], [b, d]) => a - b || c - d))
  expect(received[0]?.body).toMatchObject({ webhookId: webhook.id, eventType: 'address_activity' })
  expect(new Set(received.map(({ body }) => body.messageId)).size).toBe(received.length)
})

test('sums the gas of a block up to each transaction', async () => {
  const { url, received } = await startReceiver()
  const service = startReplay({ replay: { from: 236 } })
  await watch(service, url, { chainId: '43114', metadata: { addresses: [BUSIEST] } })
  await service.advance()
  await service.idle()
  const path = '/v1/chains/43114/blocks/237/transactions'
  const native = await fetchAll<{ txHash: string; gasUsed: string }>(service, path)
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

test('sends each webhook only the transactions and fields that it subscribed to', async () => {
  const { url, received } = await startReceiver()
  const service = startReplay()
  const plain = await watch(service, url)
  const logs = await watch(service, url, { includeLogs: true })
  await watch(service, url, { metadata: { addresses: [`0x${'1'.repeat(40)}`] } })
  await watch(service, url, { chainId: '1' })
  await service.advance()
  await service.idle()
  const eventFor = (id: string) => received.find(({ body }) => body.webhookId === id)?.body.event
  expect(received).toHaveLength(2)
  expect(eventFor(plain.id)).not.toHaveProperty('logs')
  expect(eventFor(plain.id).transaction).not.toHaveProperty('internalTransactions')
  expect(eventFor(logs.id).logs).toEqual([])
})

test('signs deliveries with the newest secret, and not at all before there is one', async () => {
  const { url, received } = await startReceiver()
  const service = startReplay()
  await watch(service, url)
  const step = async () => {
    await service.advance()
    await service.idle()
    return received.at(-1) as Received
  }
  expect((await step()).headers).not.toHaveProperty('x-signature')
  for (const _ of [1, 2]) {
    const { secret } = (await sendRequest(service, 'POST /v1/webhooks:generateOrRotateSharedSecret')).body
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

test('signs the body as sent with the signature scheme raw', async () => {
  const { url, received } = await startReceiver()
  const service = startReplay({ signature: 'raw' })
  await watch(service, url)
  const { secret } = (await sendRequest(service, 'POST /v1/webhooks:generateOrRotateSharedSecret')).body
  await service.advance()
  await service.idle()
  const { headers, text } = received[0] as Received
  expect(headers['x-signature']).toBe(createHmac('sha256', secret).update(text).digest('base64'))
})

test('uses the current addresses of a webhook', async () => {
  const { url, received } = await startReceiver()
  const service = startReplay()
  const { id } = await watch(service, url, { metadata: { addresses: [] } })
  const step = async () => {
    await service.advance()
    await service.idle()
  }
  const body = { addresses: [B.toLowerCase()] }
  await step()
  await sendRequest(service, `PATCH /v1/webhooks/${id}/addresses`, { body })
  await step()
  await sendRequest(service, `DELETE /v1/webhooks/${id}/addresses`, { body })
  await step()
  expect(hashesOf(received)).toEqual(['0x2'])
})

test.for([
  { how: 'drops', deliver: 'drop', arrive: ['0x1', '0x3', '0x4', '0x5'] },
  {
    how: 'doubles',
    deliver: 'double',
    arrive: ['0x1', '0x1', '0x2', '0x2', '0x3', '0x3', '0x4', '0x4', '0x5', '0x5'],
  },
  { how: 'shuffles', deliver: 'reverse', arrive: ['0x5', '0x4', '0x3', '0x2', '0x1'] },
] as const)('$how the deliveries of a step with the option deliver', async ({ deliver, arrive }) => {
  const functions: Record<typeof deliver, NonNullable<DataServiceOptions['deliver']>> = {
    drop: (deliveries) => deliveries.filter((_, at) => at !== 1),
    double: (deliveries) => deliveries.flatMap((delivery) => [delivery, delivery]),
    reverse: (deliveries) => [...deliveries].reverse(),
  }
  const { url, received } = await startReceiver()
  const service = startReplay({ deliver: functions[deliver] })
  await watch(service, url)
  await service.advance(5)
  await service.idle()
  expect(hashesOf(received)).toEqual(arrive)
  expect(new Set(received.map(({ body }) => body.messageId)).size).toBe(new Set(arrive).size)
})
