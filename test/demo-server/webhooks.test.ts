import { expect, test } from 'vitest'
import { createDataService } from '../../src/demo-server/create-data-service.ts'
import type { DataService } from '../../src/demo-server/data-service.ts'
import { sendRequest } from './requests.ts'

const A = '0x00000000000000000000000000000000000000Aa'
const B = '0x00000000000000000000000000000000000000bB'
const NEW = {
  eventType: 'address_activity',
  url: 'https://receiver.example/hook',
  chainId: '43114',
  metadata: { addresses: [A] },
}

async function create(service: DataService, more: object = {}, key?: string) {
  const { status, body } = await sendRequest(service, 'POST /v1/webhooks', {
    body: { ...NEW, ...more },
    ...(key === undefined ? {} : { key }),
  })
  expect(status).toBe(201)
  return body
}

test('creates an active webhook and returns all of its fields', async () => {
  const service = createDataService({ clock: () => 1_800_000_000_123 })
  const webhook = await create(service)
  expect(webhook).toEqual({
    ...NEW,
    id: expect.stringMatching(/^[0-9a-f-]{36}$/),
    status: 'active',
    createdAt: 1_800_000_000_123,
    name: '',
    description: '',
    includeInternalTxs: false,
    includeLogs: false,
  })
  const shown = await sendRequest(service, `GET /v1/webhooks/${webhook.id}`)
  expect([shown.status, shown.body]).toEqual([200, webhook])
})

test('stores the fields of a new webhook', async () => {
  const metadata = { addresses: [A, B], eventSignatures: ['0xddf252ad'] }
  const more = { name: 'n', description: 'd', includeInternalTxs: true, includeLogs: true, metadata }
  const webhook = await create(createDataService(), more)
  expect(webhook).toMatchObject({ ...NEW, ...more })
})

test('watches an address once, in the letter case of its first occurrence', async () => {
  const service = createDataService({ maxAddresses: 2 })
  const addresses = [A, B, A.toLowerCase(), B]
  const webhook = await create(service, { metadata: { addresses } })
  expect(webhook.metadata.addresses).toEqual([A, B])
})

test('changes only the fields in the request', async () => {
  const service = createDataService()
  const webhook = await create(service, { name: 'old', includeLogs: true })
  const change = { name: 'new', url: 'http://other.example/', status: 'inactive', includeLogs: false }
  const changed = await sendRequest(service, `PATCH /v1/webhooks/${webhook.id}`, { body: change })
  expect([changed.status, changed.body]).toEqual([200, { ...webhook, ...change }])
  const same = await sendRequest(service, `PATCH /v1/webhooks/${webhook.id}`, { body: {} })
  expect(same.body).toEqual(changed.body)
})

test('deactivates a webhook by DELETE and activates it again', async () => {
  const service = createDataService()
  const webhook = await create(service)
  const deactivated = await sendRequest(service, `DELETE /v1/webhooks/${webhook.id}`)
  expect([deactivated.status, deactivated.body]).toEqual([200, { ...webhook, status: 'inactive' }])
  expect((await sendRequest(service, `GET /v1/webhooks/${webhook.id}`)).body.status).toBe('inactive')
  const reactivated = await sendRequest(service, `PATCH /v1/webhooks/${webhook.id}`, {
    body: { status: 'active' },
  })
  expect(reactivated.body).toEqual(webhook)
})

test('lists webhooks page by page while others are deactivated', async () => {
  const service = createDataService()
  const ids: string[] = []
  for (let count = 0; count < 5; count++) ids.push((await create(service)).id)
  const page = async (query: string) => {
    const { status, body } = await sendRequest(service, `GET /v1/webhooks?${query}`)
    expect(status).toBe(200)
    return { ids: body.webhooks.map((webhook: { id: string }) => webhook.id), token: body.nextPageToken }
  }
  const first = await page('pageSize=2&status=active')
  expect(first.ids).toEqual(ids.slice(0, 2))
  await sendRequest(service, `DELETE /v1/webhooks/${ids[0]}`)
  await sendRequest(service, `DELETE /v1/webhooks/${ids[2]}`)
  const next = await page(`pageSize=2&status=active&pageToken=${first.token}`)
  expect(next).toEqual({ ids: ids.slice(3), token: undefined })
  expect((await page('status=inactive')).ids).toEqual([ids[0], ids[2]])
  expect(await page('')).toEqual({ ids, token: undefined })
})

test('returns 10 webhooks per page by default', async () => {
  const service = createDataService()
  for (let count = 0; count < 11; count++) await create(service)
  const { body } = await sendRequest(service, 'GET /v1/webhooks')
  expect(body.webhooks).toHaveLength(10)
  expect(typeof body.nextPageToken).toBe('string')
})

test('adds and removes addresses idempotently', async () => {
  const service = createDataService()
  const { id } = await create(service)
  const change = async (method: string, addresses: string[]) => {
    const { status, body } = await sendRequest(service, `${method} /v1/webhooks/${id}/addresses`, {
      body: { addresses },
    })
    expect([status, body.id]).toEqual([200, id])
    return body.metadata.addresses
  }
  expect(await change('PATCH', [B, A])).toEqual([A, B])
  expect(await change('PATCH', [B.toLowerCase()])).toEqual([A, B])
  expect(await change('DELETE', [A.toLowerCase(), `0x${'1'.repeat(40)}`])).toEqual([B])
  expect(await change('DELETE', [A])).toEqual([B])
  expect(await change('DELETE', [B])).toEqual([])
})

test('lists the addresses of a webhook page by page', async () => {
  const addresses = Array.from({ length: 25 }, (_, at) => `0x${String(at).padStart(40, '0')}`)
  const service = createDataService({ maxAddresses: 25 })
  const { id } = await create(service, { metadata: { addresses } })
  const page = async (query: string) =>
    (await sendRequest(service, `GET /v1/webhooks/${id}/addresses${query}`)).body
  const first = await page('')
  expect(first).toMatchObject({ addresses: addresses.slice(0, 10), totalAddresses: 25 })
  await sendRequest(service, `DELETE /v1/webhooks/${id}/addresses`, {
    body: { addresses: addresses.slice(0, 11) },
  })
  const next = await page(`?pageToken=${first.nextPageToken}`)
  expect(next).toMatchObject({ addresses: addresses.slice(11, 21), totalAddresses: 14 })
  const last = await page(`?pageToken=${next.nextPageToken}`)
  expect(last).toEqual({ addresses: addresses.slice(21), totalAddresses: 14 })
})

test('rejects changes beyond the address limit of the plan', async () => {
  const addresses = Array.from({ length: 6 }, (_, at) => `0x${String(at).padStart(40, '0')}`)
  const service = createDataService()
  const over = await sendRequest(service, 'POST /v1/webhooks', { body: { ...NEW, metadata: { addresses } } })
  expect([over.status, over.body.error]).toEqual([400, 'Bad Request'])
  expect(over.body.message).toBe(
    'A webhook of this plan can watch at most 5 addresses, but this would make 6.',
  )
  const { id } = await create(service, { metadata: { addresses: addresses.slice(0, 4) } })
  const path = `/v1/webhooks/${id}/addresses`
  expect((await sendRequest(service, `PATCH ${path}`, { body: { addresses } })).status).toBe(400)
  expect((await sendRequest(service, `GET ${path}`)).body.totalAddresses).toBe(4)
  const full = await sendRequest(service, `PATCH ${path}`, { body: { addresses: addresses.slice(4, 5) } })
  expect(full.body.metadata.addresses).toHaveLength(5)
})

test('has no shared secret at first, and generates a new one each time', async () => {
  const service = createDataService()
  const none = await sendRequest(service, 'GET /v1/webhooks:getSharedSecret')
  expect(none.status).toBe(404)
  expect(none.body.message).toContain('POST /v1/webhooks:generateOrRotateSharedSecret')
  const first = await sendRequest(service, 'POST /v1/webhooks:generateOrRotateSharedSecret')
  expect([first.status, first.body]).toEqual([201, { secret: expect.stringMatching(/^[0-9a-f]{64}$/) }])
  expect((await sendRequest(service, 'GET /v1/webhooks:getSharedSecret')).body).toEqual(first.body)
  const second = await sendRequest(service, 'POST /v1/webhooks:generateOrRotateSharedSecret')
  expect(second.body.secret).not.toBe(first.body.secret)
  const shown = await sendRequest(service, 'GET /v1/webhooks:getSharedSecret')
  expect([shown.status, shown.body]).toEqual([200, second.body])
})

test('gives a key no access to the webhooks and secret of another key', async () => {
  const service = createDataService({ keys: ['a', 'b'] })
  const { id } = await create(service, {}, 'a')
  await sendRequest(service, 'POST /v1/webhooks:generateOrRotateSharedSecret', { key: 'a' })
  expect((await sendRequest(service, 'GET /v1/webhooks', { key: 'b' })).body).toEqual({ webhooks: [] })
  for (const request of [
    `GET /v1/webhooks/${id}`,
    `PATCH /v1/webhooks/${id}`,
    `DELETE /v1/webhooks/${id}`,
    `GET /v1/webhooks/${id}/addresses`,
    'GET /v1/webhooks:getSharedSecret',
  ]) {
    expect((await sendRequest(service, request, { key: 'b', body: {} })).status).toBe(404)
  }
  expect((await sendRequest(service, `GET /v1/webhooks/${id}`, { key: 'a' })).body.status).toBe('active')
})
