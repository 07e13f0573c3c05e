import { EventEmitter, once } from 'node:events'
import { Agent, get, type IncomingMessage } from 'node:http'
import { connect } from 'node:net'
import { text } from 'node:stream/consumers'
import { expect, onTestFinished, test } from 'vitest'
import { createDataService } from '../../src/demo-server/create-data-service.ts'
import type { DataService } from '../../src/demo-server/data-service.ts'
import { listen } from '../../src/demo-server/listen.ts'
import { ask, walletPath } from './ask.ts'

const URL_ASKED = walletPath('0xa548f4431ec271b95b8BDf86c85147C3bBBC5A4f', 'pageSize=3')

async function serve(service: DataService) {
  const listening = await listen(service)
  onTestFinished(() => listening.close())
  return listening
}

test('answers over HTTP what the service answers', async () => {
  const service = createDataService({ keys: ['k'], quota: { perSecond: 5 } })
  const { url, port } = await serve(service)
  expect(url).toBe(`http://127.0.0.1:${port}`)
  const response = await fetch(`${url}${URL_ASKED}`, { headers: { 'X-Service-Api-Key': 'k' } })
  const told = await response.text()
  const direct = await ask(service, URL_ASKED, { 'x-service-api-key': 'k' })
  expect(response.status).toBe(200)
  expect(response.headers.get('content-length')).toBe(String(Buffer.byteLength(told)))
  expect(response.headers.get('ratelimit-remaining')).toBe('4')
  expect(JSON.parse(told)).toEqual(direct.body)
})

test('keeps a connection for the next request', async () => {
  const { url } = await serve(createDataService())
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  onTestFinished(() => agent.destroy())
  const ports = new Set<number | undefined>()
  for (let time = 0; time < 3; time++) {
    const [response] = (await once(get(`${url}${URL_ASKED}`, { agent }), 'response')) as [IncomingMessage]
    ports.add(response.socket.localPort)
    await text(response)
  }
  expect(ports.size).toBe(1)
})

test('ends idle connections when it closes, and closes twice', async () => {
  const { port, close } = await listen(createDataService())
  const socket = connect(port, '127.0.0.1')
  await once(socket, 'connect')
  socket.write(`GET ${URL_ASKED} HTTP/1.1\r\nhost: x\r\n\r\n`)
  await once(socket, 'data')
  const ended = once(socket.resume(), 'close')
  await close()
  await close()
  await ended
  await expect(fetch(`http://127.0.0.1:${port}/`)).rejects.toThrow()
})

test('ends a connection that still waits for its answer', async () => {
  const door = new EventEmitter()
  const asked = once(door, 'asked')
  const handle = () => {
    door.emit('asked')
    return new Promise<never>(() => {})
  }
  const { url, close } = await listen({ handle })
  const waiting = expect(fetch(url)).rejects.toThrow()
  await asked
  await close()
  await waiting
})

test.for([
  { when: 'no HTTP', sent: 'hello\r\n\r\n' },
  { when: 'endless headers', sent: `GET / HTTP/1.1\r\nhost: x\r\nx-long: ${'a'.repeat(40_000)}\r\n\r\n` },
])('answers $when with the error body', async ({ sent }) => {
  const { port } = await serve(createDataService())
  const socket = connect(port, '127.0.0.1')
  socket.write(sent)
  const [head = '', body = ''] = (await text(socket)).split('\r\n\r\n')
  expect(head).toMatch(/^HTTP\/1\.1 400 Bad Request\r\n/)
  expect(JSON.parse(body)).toMatchObject({ statusCode: 400, error: 'Bad Request' })
})

test('answers 500 when a wrapped service throws', async () => {
  const { url } = await serve({ handle: () => Promise.reject(new Error('inside')) })
  const response = await fetch(`${url}/`)
  expect(response.status).toBe(500)
  expect(await response.text()).not.toContain('inside')
})

test('says which port is taken', async () => {
  const { port } = await serve(createDataService())
  await expect(listen(createDataService(), { port })).rejects.toMatchObject({
    code: 'USAGE',
    message: `cannot listen on 127.0.0.1:${port}: EADDRINUSE`,
  })
})

test.for(['GET / HTTP/1.1\r\nhost:', 'POST / HTTP/1.1\r\nhost: x\r\ncontent-length: 100\r\n\r\n{'])(
  'closes a request that does not arrive whole: %j',
  async (sent) => {
    const listening = await listen(createDataService(), { requestTimeoutMs: 50 })
    onTestFinished(() => listening.close())
    const socket = connect(listening.port, '127.0.0.1')
    await once(socket, 'connect')
    socket.write(sent)
    expect(await text(socket)).toMatch(/^HTTP\/1\.1 408 |^HTTP\/1\.1 400 /)
  },
)
