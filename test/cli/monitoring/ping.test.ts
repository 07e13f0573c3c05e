import { expect, onTestFinished, test, vi } from 'vitest'
import { ping, sendHttp } from '../../../src/cli/monitoring/send-http.ts'
import { startProxy } from '../../helpers/proxy.ts'
import { startReceiver } from './receiver.ts'

test.for([
  { event: 'start', path: '/secret/start?rid=1' },
  { event: 0, path: '/secret?rid=1' },
  { event: 9, path: '/secret/9?rid=1' },
  { event: 143, path: '/secret/143?rid=1' },
] as const)('pings $path for $event', async ({ event, path }) => {
  const { url, received } = await startReceiver()
  expect(await ping(new URL(`${url}/secret?rid=1`), event)).toBeUndefined()
  expect(received).toMatchObject([{ method: 'GET', url: path, body: '' }])
})

test('gives up if no response arrives in time', async () => {
  const { url } = await startReceiver(() => {})
  expect(await sendHttp({ url: new URL(url), method: 'GET', timeoutMs: 50 })).toBe(
    'no response within 0.05 s',
  )
})

test('does not follow redirects', async () => {
  const other = await startReceiver()
  const { url } = await startReceiver((response) => response.writeHead(302, { location: other.url }).end())
  expect(await ping(new URL(url), 0)).toBe('the response had status 302')
  expect(other.received).toEqual([])
})

test('pings through the proxy of the environment, and names it if it cannot be reached', async () => {
  const { url } = await startReceiver()
  const proxy = await startProxy({ target: url })
  onTestFinished(() => {
    vi.unstubAllEnvs()
  })
  for (const [name, value] of Object.entries({ HTTP_PROXY: proxy.url, NO_PROXY: '', no_proxy: '' }))
    vi.stubEnv(name, value)
  expect(await ping(new URL('http://watcher.test/secret'), 0)).toBeUndefined()
  expect(proxy.requests).toEqual(['GET http://watcher.test/secret'])
  vi.stubEnv('HTTP_PROXY', 'http://me:s3cret@127.0.0.1:1')
  expect(await ping(new URL('http://watcher.test/secret'), 0)).toBe(
    'ECONNREFUSED through the proxy 127.0.0.1:1 of HTTP_PROXY',
  )
})
