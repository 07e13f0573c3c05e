import { expect, test } from 'vitest'
import { createDataService } from '../../src/demo-server/create-data-service.ts'
import { tell } from './ask.ts'

const A = '0x00000000000000000000000000000000000000Aa'
const NEW = {
  eventType: 'address_activity',
  url: 'https://receiver.example/hook',
  chainId: '43114',
  metadata: { addresses: [A] },
}
const ADDRESSES = 'metadata.addresses must be an array of addresses.'

test.for([
  {
    fault: 'no event type',
    body: { ...NEW, eventType: undefined },
    says: 'eventType must be address_activity.',
  },
  {
    fault: 'another event type',
    body: { ...NEW, eventType: 'p' },
    says: 'eventType must be address_activity.',
  },
  {
    fault: 'no URL',
    body: { ...NEW, url: undefined },
    says: 'url is missing: expected an http or https URL.',
  },
  { fault: 'no real URL', body: { ...NEW, url: 'receiver' }, says: 'url must be an http or https URL.' },
  { fault: 'a file URL', body: { ...NEW, url: 'file:///x' }, says: 'url must be an http or https URL.' },
  { fault: 'a null URL', body: { ...NEW, url: null }, says: 'url must be an http or https URL.' },
  {
    fault: 'no chain',
    body: { ...NEW, chainId: undefined },
    says: 'chainId must be one of 43114, 1, as text.',
  },
  {
    fault: 'an unknown chain',
    body: { ...NEW, chainId: '7' },
    says: 'chainId must be one of 43114, 1, as text.',
  },
  { fault: 'no metadata', body: { ...NEW, metadata: undefined }, says: ADDRESSES },
  { fault: 'no addresses', body: { ...NEW, metadata: {} }, says: ADDRESSES },
  { fault: 'one address alone', body: { ...NEW, metadata: { addresses: A } }, says: ADDRESSES },
  {
    fault: 'a bad address',
    body: { ...NEW, metadata: { addresses: [A, '0x12'] } },
    says: 'metadata.addresses[1] must be 0x and 40 hex digits.',
  },
  {
    fault: 'a number for an address',
    body: { ...NEW, metadata: { addresses: [7] } },
    says: 'metadata.addresses[0] must be 0x and 40 hex digits.',
  },
  {
    fault: 'a signature without hex',
    body: { ...NEW, metadata: { addresses: [A], eventSignatures: ['Transfer'] } },
    says: 'metadata.eventSignatures must be an array of strings, each 0x and hex digits.',
  },
  { fault: 'a number for a name', body: { ...NEW, name: 7 }, says: 'name must be a string.' },
  { fault: 'a null description', body: { ...NEW, description: null }, says: 'description must be a string.' },
  {
    fault: 'text for a flag',
    body: { ...NEW, includeLogs: 'yes' },
    says: 'includeLogs must be true or false.',
  },
  {
    fault: 'traces of another chain',
    body: { ...NEW, chainId: '1', includeInternalTxs: true },
    says: 'includeInternalTxs is for the chains 43113 and 43114 only.',
  },
])('refuses a webhook with $fault', async ({ body, says }) => {
  const service = createDataService()
  const answer = await tell(service, 'POST /v1/webhooks', { body })
  expect(answer.body).toEqual({ message: says, statusCode: 400, error: 'Bad Request' })
  expect((await tell(service, 'GET /v1/webhooks')).body.webhooks).toEqual([])
})

test('says all faults of a webhook at once', async () => {
  const { status, body } = await tell(createDataService(), 'POST /v1/webhooks', { body: {} })
  expect([status, body.statusCode]).toEqual([400, 400])
  expect(body.message).toEqual([
    'eventType must be address_activity.',
    'url is missing: expected an http or https URL.',
    'chainId must be one of 43114, 1, as text.',
    ADDRESSES,
  ])
})

test.for([
  { body: { status: 'paused' }, says: 'status must be active or inactive.' },
  { body: { url: 'ftp://x' }, says: 'url must be an http or https URL.' },
  { body: { includeLogs: 1 }, says: 'includeLogs must be true or false.' },
  { body: { includeInternalTxs: true }, says: 'includeInternalTxs is for the chains 43113 and 43114 only.' },
])('refuses the change $body and keeps the webhook', async ({ body, says }) => {
  const service = createDataService()
  const made = await tell(service, 'POST /v1/webhooks', { body: { ...NEW, chainId: '1' } })
  const path = `/v1/webhooks/${made.body.id}`
  const answer = await tell(service, `PATCH ${path}`, { body: { name: 'new', ...body } })
  expect(answer.body).toEqual({ message: says, statusCode: 400, error: 'Bad Request' })
  expect((await tell(service, `GET ${path}`)).body).toEqual(made.body)
})

test.for([
  { body: {}, says: 'addresses must be an array of addresses.' },
  { body: { addresses: [A, 'x'] }, says: 'addresses[1] must be 0x and 40 hex digits.' },
])('refuses to add or remove $body', async ({ body, says }) => {
  const service = createDataService()
  const { id } = (await tell(service, 'POST /v1/webhooks', { body: NEW })).body
  for (const method of ['PATCH', 'DELETE']) {
    const answer = await tell(service, `${method} /v1/webhooks/${id}/addresses`, { body })
    expect(answer.body).toEqual({ message: says, statusCode: 400, error: 'Bad Request' })
  }
})

test.for([
  'GET /v1/webhooks/none',
  'PATCH /v1/webhooks/none',
  'DELETE /v1/webhooks/none',
  'GET /v1/webhooks/none/addresses',
  'PATCH /v1/webhooks/none/addresses',
  'DELETE /v1/webhooks/none/addresses',
])('answers 404 to %s', async (request) => {
  const answer = await tell(createDataService(), request, { body: { addresses: [] } })
  expect(answer.body).toEqual({
    message: 'There is no webhook "none" here.',
    statusCode: 404,
    error: 'Not Found',
  })
})

test.for([
  { query: 'pageSize=0', says: 'from 1 to 100' },
  { query: 'pageSize=101', says: 'from 1 to 100' },
  { query: 'status=gone', says: 'status must be active or inactive' },
  { query: 'pageToken=x', says: 'pageToken is not one' },
])('refuses to list webhooks with $query', async ({ query, says }) => {
  const { status, body } = await tell(createDataService(), `GET /v1/webhooks?${query}`)
  expect(status).toBe(400)
  expect(body.message).toContain(says)
})

test.for([
  { what: 'nothing', type: 'application/json', text: '', says: 'not well-formed JSON' },
  { what: 'half an object', type: 'application/json', text: '{"url":', says: 'not well-formed JSON' },
  { what: 'an array', type: 'application/json', text: '[]', says: 'must be a JSON object' },
  { what: 'null', type: 'application/json', text: 'null', says: 'must be a JSON object' },
  { what: 'a form', type: 'application/x-www-form-urlencoded', text: 'a=1', says: 'content-type' },
  { what: 'JSON of no type', type: undefined, text: '{}', says: 'content-type' },
])('refuses $what as a body', async ({ type, text, says }) => {
  const headers = { 'content-type': type }
  const answer = await createDataService().handle({
    method: 'POST',
    url: '/v1/webhooks',
    headers,
    body: text,
  })
  expect(answer.status).toBe(400)
  expect(JSON.parse(answer.body)).toMatchObject({
    message: expect.stringContaining(says),
    error: 'Bad Request',
  })
})

test('takes a body of JSON in any spelling of its type', async () => {
  const headers = { 'content-type': 'Application/JSON ; charset=utf-8' }
  const body = JSON.stringify(NEW)
  const answer = await createDataService().handle({ method: 'POST', url: '/v1/webhooks', headers, body })
  expect(answer.status).toBe(201)
})

test('refuses a body over a megabyte with 413', async () => {
  const body = { ...NEW, description: 'x'.repeat(1_048_576) }
  const answer = await tell(createDataService(), 'POST /v1/webhooks', { body })
  expect(answer.body).toEqual({
    message: 'The body is longer than 1048576 bytes.',
    statusCode: 413,
    error: 'Payload Too Large',
  })
})
