import { EventEmitter, once } from 'node:events'
import { Agent, get, type IncomingMessage } from 'node:http'
import { connect } from 'node:net'
import { text } from 'node:stream/consumers'
import { expect, onTestFinished, test } from 'vitest'
import { createDataService } from '../../src/demo-server/create-data-service.ts'
import type { DataService } from '../../src/demo-server/data-service.ts'
import { listen } from '../../src/demo-server/listen.ts'
import { fetchJson, walletPath } from './requests.ts'

const LISTING_URL = walletPath('0xa548f4431ec271b95b8BDf86c85147C3bBBC5A4f', 'pageSize=3')

async function serve(service: DataService) {
  const listening = await listen(service)
  onTestFinished(() => listening.close())
  return listening
}

test('returns the responses of the service over HTTP', async () => {
  const service = createDataService({ keys: ['k'], quota: { perSecond: 5 } })
  const { url, port } = await serve(service)
  expect(url).toBe(`http://127.0.0.1:${port}`)
  const response = await fetch(`${url}${LISTING_URL}`, { headers: { 'X-Service-Api-Key': 'k' } })
  const responseBody = await response.text()
  const direct = await fetchJson(service, LISTING_URL, { 'x-service-api-key': 'k' })
  expect(response.status).toBe(200)
  expect(response.headers.get('content-length')).toBe(String(Buffer.byteLength(responseBody)))
  expect(response.headers.get('ratelimit-remaining')).toBe('4')
  expect(JSON.parse(responseBody)).toEqual(direct.body)
})

test('reuses a connection for the next request', async () => {
  const { url } = await serve(createDataService())
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  onTestFinished(() => agent.destroy())
  const ports = new Set<number | undefined>()
  for (let time = 0; time < 3; time++) {
    const [response] = (await once(get(`${url}${LISTING_URL}`, { agent }), 'response')) as [IncomingMessage]
    ports.add(response.socket.localPort)
    await text(response)
  }
  expect(ports.size).toBe(1)
})

test('closes idle connections, and can be closed twice', async () => {
  const { port, close } = await listen(createDataService())
  const socket = connect(port, '127.0.0.1')
  await once(socket, 'connect')
  socket.write(`GET ${LISTING_URL} HTTP/1.1\r\nhost: x\r\n\r\n`)
  await once(socket, 'data')
  const ended = once(socket.resume(), 'close')
  await close()
  await close()
  await ended
  await expect(fetch(`http://127.0.0.1:${port}/`)).rejects.toThrow()
})

test('closes a connection that still waits for its response', async () => {
  const events = new EventEmitter()
  const received = once(events, 'request')
  const handle = () => {
    events.emit('request')
    return new Promise<never>(() => {})
  }
  const { url, close } = await listen({ handle })
  const waiting = expect(fetch(url)).rejects.toThrow()
  await received
  await close()
  await waiting
})

test.for([
  { when: 'input that is not HTTP', sent: 'hello\r\n\r\n' },
  { when: 'endless headers', sent: `GET / HTTP/1.1\r\nhost: x\r\nx-long: ${'a'.repeat(40_000)}\r\n\r\n` },
])('responds to $when with an error body', async ({ sent }) => {
  const { port } = await serve(createDataService())
  const socket = connect(port, '127.0.0.1')
  socket.write(sent)
  const [head = '', body = ''] = (await text(socket)).split('\r\n\r\n')
  expect(head).toMatch(/^HTTP\/1\.1 400 Bad Request\r\n/)
  expect(JSON.parse(body)).toMatchObject({ statusCode: 400, error: 'Bad Request' })
})

test('returns 500 when a wrapped service throws', async () => {
  const { url } = await serve({ handle: () => Promise.reject(new Error('inside')) })
  const response = await fetch(`${url}/`)
  expect(response.status).toBe(500)
  expect(await response.text()).not.toContain('inside')
})

test('throws with the port that is in use', async () => {
  const { port } = await serve(createDataService())
  await expect(listen(createDataService(), { port })).rejects.toMatchObject({
    code: 'USAGE',
    message: `cannot listen on 127.0.0.1:${port}: EADDRINUSE`,
  })
})

test.for(['GET / HTTP/1.1\r\nhost:', 'POST / HTTP/1.1\r\nhost: x\r\ncontent-length: 100\r\n\r\n{'])(
  'closes the connection if a request does not arrive completely: %j',
  async (sent) => {
    const listening = await listen(createDataService(), { requestTimeoutMs: 50 })
    onTestFinished(() => listening.close())
    const socket = connect(listening.port, '127.0.0.1')
    await once(socket, 'connect')
    socket.write(sent)
    expect(await text(socket)).toMatch(/^HTTP\/1\.1 408 |^HTTP\/1\.1 400 /)
  },
)
