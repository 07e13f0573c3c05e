import { expect, test } from 'vitest'
import { createDataService } from '../../src/demo-server/create-data-service.ts'
import { sendRequest } from './requests.ts'

const A = '0x00000000000000000000000000000000000000Aa'
const NEW = {
  eventType: 'address_activity',
  url: 'https://receiver.example/hook',
  chainId: '43114',
  metadata: { addresses: [A] },
}
const ADDRESSES = 'metadata.addresses must be an array of addresses.'

const EVENT_TYPE = 'eventType must be address_activity.'
const URL_SCHEME = 'url must be an http or https URL.'
const CHAIN = 'chainId must be one of 43114, 1, 42161, as text.'
const INVALID: readonly [error: string, changes: object, message: string][] = [
  ['no event type', { eventType: undefined }, EVENT_TYPE],
  ['another event type', { eventType: 'p' }, EVENT_TYPE],
  ['no URL', { url: undefined }, 'url is missing: expected an http or https URL.'],
  ['no real URL', { url: 'receiver' }, URL_SCHEME],
  ['a file URL', { url: 'file:///x' }, URL_SCHEME],
  ['a null URL', { url: null }, URL_SCHEME],
  ['no chain', { chainId: undefined }, CHAIN],
  ['an unknown chain', { chainId: '7' }, CHAIN],
  ['no metadata', { metadata: undefined }, ADDRESSES],
  ['no addresses', { metadata: {} }, ADDRESSES],
  ['one address alone', { metadata: { addresses: A } }, ADDRESSES],
  [
    'a bad address',
    { metadata: { addresses: [A, '0x12'] } },
    'metadata.addresses[1] must be 0x and 40 hex digits.',
  ],
  [
    'a number for an address',
    { metadata: { addresses: [7] } },
    'metadata.addresses[0] must be 0x and 40 hex digits.',
  ],
  [
    'a signature without hex',
    { metadata: { addresses: [A], eventSignatures: ['Transfer'] } },
    'metadata.eventSignatures must be an array of strings, each 0x and hex digits.',
  ],
  ['a number for a name', { name: 7 }, 'name must be a string.'],
  ['a null description', { description: null }, 'description must be a string.'],
  ['text for a flag', { includeLogs: 'yes' }, 'includeLogs must be true or false.'],
  [
    'traces of another chain',
    { chainId: '1', includeInternalTxs: true },
    'includeInternalTxs is for the chains 43113 and 43114 only.',
  ],
]

test.for(INVALID)('rejects a webhook with %s', async ([, changes, message]) => {
  const service = createDataService()
  const response = await sendRequest(service, 'POST /v1/webhooks', { body: { ...NEW, ...changes } })
  expect(response.body).toEqual({ message, statusCode: 400, error: 'Bad Request' })
  expect((await sendRequest(service, 'GET /v1/webhooks')).body.webhooks).toEqual([])
})

test('reports all errors of a webhook at once', async () => {
  const { status, body } = await sendRequest(createDataService(), 'POST /v1/webhooks', { body: {} })
  expect([status, body.statusCode]).toEqual([400, 400])
  expect(body.message).toEqual([
    'eventType must be address_activity.',
    'url is missing: expected an http or https URL.',
    'chainId must be one of 43114, 1, 42161, as text.',
    ADDRESSES,
  ])
})

test.for([
  { body: { status: 'paused' }, message: 'status must be active or inactive.' },
  { body: { url: 'ftp://x' }, message: 'url must be an http or https URL.' },
  { body: { includeLogs: 1 }, message: 'includeLogs must be true or false.' },
  {
    body: { includeInternalTxs: true },
    message: 'includeInternalTxs is for the chains 43113 and 43114 only.',
  },
])('rejects the change $body and keeps the webhook unchanged', async ({ body, message }) => {
  const service = createDataService()
  const created = await sendRequest(service, 'POST /v1/webhooks', { body: { ...NEW, chainId: '1' } })
  const path = `/v1/webhooks/${created.body.id}`
  const response = await sendRequest(service, `PATCH ${path}`, { body: { name: 'new', ...body } })
  expect(response.body).toEqual({ message, statusCode: 400, error: 'Bad Request' })
  expect((await sendRequest(service, `GET ${path}`)).body).toEqual(created.body)
})

test.for([
  { body: {}, message: 'addresses must be an array of addresses.' },
  { body: { addresses: [A, 'x'] }, message: 'addresses[1] must be 0x and 40 hex digits.' },
])('rejects adding or removing $body', async ({ body, message }) => {
  const service = createDataService()
  const { id } = (await sendRequest(service, 'POST /v1/webhooks', { body: NEW })).body
  for (const method of ['PATCH', 'DELETE']) {
    const response = await sendRequest(service, `${method} /v1/webhooks/${id}/addresses`, { body })
    expect(response.body).toEqual({ message, statusCode: 400, error: 'Bad Request' })
  }
})

test.for([
  'GET /v1/webhooks/none',
  'PATCH /v1/webhooks/none',
  'DELETE /v1/webhooks/none',
  'GET /v1/webhooks/none/addresses',
  'PATCH /v1/webhooks/none/addresses',
  'DELETE /v1/webhooks/none/addresses',
])('returns 404 for %s', async (request) => {
  const response = await sendRequest(createDataService(), request, { body: { addresses: [] } })
  expect(response.body).toEqual({
    message: 'There is no webhook "none" here.',
    statusCode: 404,
    error: 'Not Found',
  })
})

test.for([
  { query: 'pageSize=0', message: 'from 1 to 100' },
  { query: 'pageSize=101', message: 'from 1 to 100' },
  { query: 'status=unknown', message: 'status must be active or inactive' },
  { query: 'pageToken=x', message: 'pageToken is not valid' },
])('rejects the webhook listing with $query', async ({ query, message }) => {
  const { status, body } = await sendRequest(createDataService(), `GET /v1/webhooks?${query}`)
  expect(status).toBe(400)
  expect(body.message).toContain(message)
})

test.for([
  { what: 'nothing', type: 'application/json', text: '', message: 'not well-formed JSON' },
  { what: 'half an object', type: 'application/json', text: '{"url":', message: 'not well-formed JSON' },
  { what: 'an array', type: 'application/json', text: '[]', message: 'must be a JSON object' },
  { what: 'null', type: 'application/json', text: 'null', message: 'must be a JSON object' },
  { what: 'a form', type: 'application/x-www-form-urlencoded', text: 'a=1', message: 'content-type' },
  { what: 'JSON of no type', type: undefined, text: '{}', message: 'content-type' },
])('rejects $what as a body', async ({ type, text, message }) => {
  const headers = { 'content-type': type }
  const response = await createDataService().handle({
    method: 'POST',
    url: '/v1/webhooks',
    headers,
    body: text,
  })
  expect(response.status).toBe(400)
  expect(JSON.parse(response.body)).toMatchObject({
    message: expect.stringContaining(message),
    error: 'Bad Request',
  })
})

test('accepts the JSON content type in any letter case and with parameters', async () => {
  const headers = { 'content-type': 'Application/JSON ; charset=utf-8' }
  const body = JSON.stringify(NEW)
  const response = await createDataService().handle({ method: 'POST', url: '/v1/webhooks', headers, body })
  expect(response.status).toBe(201)
})

test('rejects a body over 1 MiB with 413', async () => {
  const body = { ...NEW, description: 'x'.repeat(1_048_576) }
  const response = await sendRequest(createDataService(), 'POST /v1/webhooks', { body })
  expect(response.body).toEqual({
    message: 'The body is longer than 1048576 bytes.',
    statusCode: 413,
    error: 'Payload Too Large',
  })
})
