import { once } from 'node:events'
import { connect } from 'node:net'
import { text } from 'node:stream/consumers'
import { expect, onTestFinished, test } from 'vitest'
import { type ReceiverOptions, startReceiver } from '../../src/watch/receiver.ts'
import { createRejectionNotices } from '../../src/watch/watch.ts'

const TOKEN = 'f'.repeat(64)

async function received(given: Partial<ReceiverOptions> = {}) {
  const events: string[] = []
  const receiver = await startReceiver({
    host: '127.0.0.1',
    port: 0,
    token: TOKEN,
    isGenuine: () => true,
    onEvent: () => events.push('event'),
    ...given,
  })
  onTestFinished(() => receiver.close())
  const post = (path: string, body: string | Buffer = '{}', more: RequestInit = {}) =>
    fetch(receiver.url + path, { method: 'POST', body, ...more })
  return { ...receiver, post, events }
}

/** Sends raw bytes and returns everything received until the connection ends. */
async function exchange(url: string, sent: string): Promise<string> {
  const socket = connect(Number(new URL(url).port), '127.0.0.1')
  await once(socket, 'connect')
  socket.write(sent)
  return text(socket)
}

test.for([`/${TOKEN}`, `/hooks/a/${TOKEN}`, `/${TOKEN}?x=1`])('accepts events at %s', async (path) => {
  const { post, events } = await received()
  const answer = await post(path, '{"event":{}}')
  expect([answer.status, await answer.text()]).toEqual([200, ''])
  expect(events).toEqual(['event'])
})

test.for([
  { what: 'another path', path: '/', status: 404 },
  { what: 'a path that only starts with the token', path: `/${TOKEN}/x`, status: 404 },
  { what: 'a path that only ends with the characters of the token', path: `/x${TOKEN}`, status: 404 },
  { what: 'another token', path: `/${'e'.repeat(64)}`, status: 404 },
  { what: 'another method', path: `/${TOKEN}`, more: { method: 'PUT' }, status: 405 },
  { what: 'no body', path: `/${TOKEN}`, body: '', status: 400 },
  { what: 'a body that is not JSON', path: `/${TOKEN}`, body: '{', status: 400 },
  { what: 'a list', path: `/${TOKEN}`, body: '[]', status: 400 },
  { what: 'null', path: `/${TOKEN}`, body: 'null', status: 400 },
  { what: 'a text', path: `/${TOKEN}`, body: '"x"', status: 400 },
])('responds to $what with $status and ignores it', async ({ path, body, more, status }) => {
  const { post, events } = await received()
  expect((await post(path, body, more)).status).toBe(status)
  expect(events).toEqual([])
})

test('responds 401 to an invalid signature, and 400 if the signature cannot be checked', async () => {
  const seen: unknown[] = []
  const { post, events } = await received({
    isGenuine: ({ body, event, signature }) => {
      seen.push([body.toString(), event, signature])
      return false
    },
  })
  const headers = { 'x-signature': 'abc' }
  expect((await post(`/${TOKEN}`, '{"a": 1}', { headers })).status).toBe(401)
  expect(seen).toEqual([['{"a": 1}', { a: 1 }, 'abc']])
  const deep = await received({
    isGenuine: () => {
      throw new RangeError('too deep')
    },
  })
  expect((await deep.post(`/${TOKEN}`)).status).toBe(400)
  expect([...events, ...deep.events]).toEqual([])
})

test('rejects a body above the limit, with or without a content length', async () => {
  const { url, post, events } = await received({ maxBodyBytes: 1_000 })
  expect((await post(`/${TOKEN}`, `{"a":"${'x'.repeat(992)}"}`)).status).toBe(200)
  const head = `POST /${TOKEN} HTTP/1.1\r\nhost: x\r\n`
  expect(await exchange(url, `${head}content-length: 1001\r\n\r\n`)).toMatch(/^HTTP\/1.1 413 /)
  const chunk = 'x'.repeat(1_001)
  const chunked = `${head}transfer-encoding: chunked\r\n\r\n${chunk.length.toString(16)}\r\n${chunk}\r\n`
  expect(await exchange(url, chunked)).toMatch(/^HTTP\/1.1 413 /)
  expect(events).toHaveLength(1)
})

test('accepts several bodies of 50 MB at once', { tags: ['long'] }, async () => {
  const { post, events } = await received()
  const body = Buffer.from(`{"a":"${'x'.repeat(50_000_000 - 8)}"}`)
  const answers = await Promise.all([1, 2].map(() => post(`/${TOKEN}`, body)))
  expect(answers.map(({ status }) => status)).toEqual([200, 200])
  expect(events).toHaveLength(2)
})

test('rejects JSON with more values than any event has, before parsing it', async () => {
  const { post } = await received()
  expect((await post(`/${TOKEN}`, `{"a":[${'{},'.repeat(2_000_001)}{}]}`)).status).toBe(400)
})

test('reports why it rejects requests, without the token', async () => {
  const refusals: unknown[] = []
  const { post } = await received({
    isGenuine: () => false,
    maxBodyBytes: 1_000,
    onRejected: (refusal) => refusals.push(refusal),
  })
  await post('/', '{}')
  await post(`/${TOKEN}`, '{}', { method: 'PUT' })
  await post(`/${TOKEN}`, 'x'.repeat(1_001))
  await post(`/${TOKEN}`, '[]')
  await post(`/${TOKEN}`, '{}')
  await post(`/${TOKEN}`, '{}', { headers: { 'x-signature': 'abc' } })
  expect(refusals).toEqual([
    { status: 404, reason: 'the path does not end in the secret token' },
    { status: 405, reason: 'the method is PUT, expected POST' },
    { status: 413, reason: 'the body has more than 1000 bytes' },
    { status: 400, reason: 'the body is not a JSON object' },
    { status: 401, reason: 'the signature is missing' },
    { status: 401, reason: 'the signature does not match the secret' },
  ])
  expect(JSON.stringify(refusals)).not.toContain(TOKEN)
})

test('accepts an event despite hundreds of idle connections', async () => {
  const { url, post } = await received()
  const idle = Array.from({ length: 400 }, () => connect(Number(new URL(url).port), '127.0.0.1'))
  onTestFinished(() => {
    for (const socket of idle) socket.destroy()
  })
  for (const socket of idle) socket.on('error', () => undefined)
  await Promise.all(idle.map((socket) => once(socket, 'connect')))
  expect((await post(`/${TOKEN}`)).status).toBe(200)
})

test('prints a notice about rejected requests once a minute per status', () => {
  let now = 0
  const notice = createRejectionNotices(() => now)
  const refusal = { status: 401, reason: 'the signature is missing' }
  expect(notice(refusal)).toBe('a request to the receiver was rejected with 401: the signature is missing')
  expect([notice(refusal), notice(refusal)]).toEqual([undefined, undefined])
  expect(notice({ status: 404, reason: 'x' })).toContain('404')
  now = 60_000
  expect(notice(refusal)).toContain('; 2 more since the last notice')
})

test('ends a request that is not complete in time', async () => {
  const { url, events } = await received({ requestTimeoutMs: 50 })
  const head = `POST /${TOKEN} HTTP/1.1\r\nhost: x\r\ncontent-length: 100\r\n\r\n{`
  expect(await exchange(url, head)).toMatch(/^HTTP\/1.1 408 /)
  expect(await exchange(url, 'POST /')).toMatch(/^HTTP\/1.1 408 /)
  expect(events).toEqual([])
})

test('survives invalid HTTP and truncated bodies', async () => {
  const { url, post } = await received()
  expect(await exchange(url, 'hello\r\n\r\n')).toMatch(/^HTTP\/1.1 400 /)
  const socket = connect(Number(new URL(url).port), '127.0.0.1')
  await once(socket, 'connect')
  socket.end(`POST /${TOKEN} HTTP/1.1\r\nhost: x\r\ncontent-length: 100\r\n\r\n{`)
  await text(socket)
  expect((await post(`/${TOKEN}`)).status).toBe(200)
})

test('reports that a port is in use', async () => {
  const { url } = await received()
  const port = Number(new URL(url).port)
  await expect(received({ port })).rejects.toMatchObject({ code: 'USAGE', message: /EADDRINUSE/ })
})

test('closes its connections when it is closed', async () => {
  const { url, close, post } = await received()
  await post(`/${TOKEN}`)
  await close()
  await expect(fetch(url)).rejects.toThrow()
})
