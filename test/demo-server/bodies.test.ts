import { once } from 'node:events'
import { connect } from 'node:net'
import { text } from 'node:stream/consumers'
import { expect, onTestFinished, test } from 'vitest'
import { createDataService } from '../../src/demo-server/create-data-service.ts'
import type { DataService } from '../../src/demo-server/data-service.ts'
import { listen } from '../../src/demo-server/listen.ts'
import { startReceiver } from './receiver.ts'

const NEW = {
  eventType: 'address_activity',
  url: 'https://receiver.example/hook',
  chainId: '43114',
  metadata: { addresses: ['0xa548f4431ec271b95b8BDf86c85147C3bBBC5A4f'] },
}

async function serve(service: DataService) {
  const listening = await listen(service)
  onTestFinished(() => listening.close())
  return listening
}

const post = (url: string, body: string) =>
  fetch(`${url}/v1/webhooks`, { method: 'POST', headers: { 'content-type': 'application/json' }, body })

test('accepts a body over HTTP in pieces that split a character', async () => {
  const { port } = await serve(createDataService())
  const body = Buffer.from(JSON.stringify({ ...NEW, name: 'naïve ☃' }))
  const socket = connect(port, '127.0.0.1')
  const head = [
    'POST /v1/webhooks HTTP/1.1',
    'host: x',
    'content-type: application/json',
    'connection: close',
  ]
  socket.write([...head, `content-length: ${body.length}`, '', ''].join('\r\n'))
  const cut = body.indexOf(Buffer.from('☃')) + 1
  socket.write(body.subarray(0, cut), () => socket.write(body.subarray(cut)))
  const [start = '', responseBody = ''] = (await text(socket)).split('\r\n\r\n')
  expect(start).toMatch(/^HTTP\/1\.1 201 /)
  expect(JSON.parse(responseBody).name).toBe('naïve ☃')
})

test('returns 413 for a body over 1 MiB without reading all of it', async () => {
  const { url } = await serve(createDataService())
  const response = await post(url, JSON.stringify({ ...NEW, name: 'x'.repeat(3_000_000) }))
  expect(response.status).toBe(413)
  expect(await response.json()).toMatchObject({ statusCode: 413, error: 'Payload Too Large' })
})

test('returns an empty body for a reindex', async () => {
  const { url } = await serve(createDataService())
  const path = '/v1/chains/43114/nfts/collections/0xD136BcEe353d0F6Faa20AbF909A612884CeE5bF1/tokens/1:reindex'
  const response = await fetch(`${url}${path}`, { method: 'POST' })
  expect([response.status, response.headers.get('content-length'), await response.text()]).toEqual([
    201,
    '0',
    '',
  ])
})

test('keeps running when a client disconnects within its body', async () => {
  const { port, url } = await serve(createDataService())
  const socket = connect(port, '127.0.0.1')
  socket.write('POST /v1/webhooks HTTP/1.1\r\nhost: x\r\ncontent-length: 100\r\n\r\n{"url"')
  await once(socket, 'ready')
  socket.destroy()
  await once(socket, 'close')
  expect((await post(url, JSON.stringify(NEW))).status).toBe(201)
})

test('closing the server also closes the service and its deliveries', async () => {
  const receiver = await startReceiver(() => 'nothing')
  const service = createDataService({ replay: { from: 100 } })
  const { url, close } = await serve(service)
  const arrived = once(receiver.server, 'connection')
  expect((await post(url, JSON.stringify({ ...NEW, url: receiver.url }))).status).toBe(201)
  await service.advance(10)
  const [socket] = await arrived
  const ended = once(socket, 'close')
  await close()
  await ended
  await service.idle()
  expect((await service.handle({ method: 'GET', url: '/v1/chains', headers: {} })).status).toBe(503)
})
