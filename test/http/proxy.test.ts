import { expect, onTestFinished, test, vi } from 'vitest'
import type { ExportError } from '../../src/index.ts'
import { startCommand } from '../helpers/command.ts'
import { isMissing } from '../helpers/programs.ts'
import { startProxy } from '../helpers/proxy.ts'
import { closedUrl } from '../helpers/serve.ts'
import { tempFolder } from '../helpers/temp-folder.ts'
import { clientOf, failureOf, startServer } from './server.ts'
import { startTlsServer } from './tls-server.ts'

const NAMES = ['HTTP_PROXY', 'http_proxy', 'HTTPS_PROXY', 'https_proxy', 'NO_PROXY', 'no_proxy', 'ALL_PROXY']

/** Sets these proxy variables and unsets all others. */
function setProxies(given: Record<string, string>): void {
  for (const name of NAMES) vi.stubEnv(name, given[name])
  onTestFinished(() => {
    vi.unstubAllEnvs()
  })
}

const chain = { body: { chainId: '1' } }
const quick = { retry: { retries: 0 } }

test.for(['HTTP_PROXY', 'http_proxy'])(
  'reaches a host that only the proxy of %s can resolve',
  async (name) => {
    const { url } = await startServer(() => chain)
    const proxy = await startProxy({ target: url })
    setProxies({ [name]: proxy.url })
    const client = clientOf('http://firewalled.test:8080/base')
    expect(await client.getChain({ chainId: '1' })).toEqual({ chainId: '1' })
    expect(proxy.requests).toEqual(['GET http://firewalled.test:8080/base/v1/chains/1'])
  },
)

test.skipIf(isMissing('openssl'))(
  'tunnels HTTPS requests through the proxy of HTTPS_PROXY without revealing them',
  async () => {
    const service = await startTlsServer(JSON.stringify(chain.body))
    const proxy = await startProxy({})
    setProxies({ HTTPS_PROXY: proxy.url })
    const error = await failureOf(clientOf(service.url, quick).getChain({ chainId: '1' }))
    expect(error).toMatchObject({ message: expect.stringContaining('is not trusted') })
    expect(proxy.requests).toEqual([`CONNECT ${new URL(service.url).host}`])
  },
)

test('the built program, which has only a part of undici, tunnels HTTPS requests through a proxy', async () => {
  const proxy = await startProxy({ password: 'user:secret' })
  const output = tempFolder()
  const args = ['run', '--address', `0x${'ab'.repeat(20)}`, '--chain', '43114', '--output', output]
  const env = { https_proxy: proxy.url, no_proxy: '', NO_PROXY: '' }
  const command = startCommand([...args, '--base-url', 'https://firewalled.test'], env)
  await expect.poll(() => proxy.requests).toContain('CONNECT firewalled.test:443')
  command.kill()
  await command.ended
})

test.for([
  { list: '127.0.0.1', isDirect: true },
  { list: 'example.com, .0.0.1', isDirect: true },
  { list: '*', isDirect: true },
  { list: 'localhost,10.0.0.1', isDirect: false },
  { list: '127.0.0.1:1', isDirect: false },
])('with NO_PROXY=$list, requests to 127.0.0.1 go directly: $isDirect', async ({ list, isDirect }) => {
  const { url } = await startServer(() => chain)
  const proxy = await startProxy({ target: url })
  setProxies({ HTTP_PROXY: proxy.url, NO_PROXY: list })
  await clientOf(url).getChain({ chainId: '1' })
  expect(proxy.requests.length === 0).toBe(isDirect)
})

test('sends the user and password of the variable and reveals neither', async () => {
  const { url } = await startServer(() => chain)
  const proxy = await startProxy({ target: url, password: 'me:s3cret/word' })
  setProxies({ HTTP_PROXY: proxy.url.replace('//', '//me:s3cret%2Fword@') })
  expect(await clientOf('http://firewalled.test').getChain({ chainId: '1' })).toEqual({ chainId: '1' })
  setProxies({ HTTP_PROXY: proxy.url.replace('//', '//me:an0ther@') })
  const error = (await failureOf(
    clientOf('http://firewalled.test').getChain({ chainId: '1' }),
  )) as ExportError
  expect(error.message).toContain(`the proxy ${new URL(proxy.url).host} of HTTP_PROXY answered 407`)
  expect(error.fix).toContain('Put user and password into HTTP_PROXY')
  expect(error.message + error.fix).not.toContain('an0ther')
})

test('names the proxy and its variable if it requires a password for CONNECT', async () => {
  const proxy = await startProxy({ password: 'me:s3cret' })
  setProxies({ HTTPS_PROXY: proxy.url })
  const error = (await failureOf(
    clientOf('https://firewalled.test', quick).getChain({ chainId: '1' }),
  )) as ExportError
  const { host } = new URL(proxy.url)
  expect(error.message).toContain(`the proxy ${host} of HTTPS_PROXY answered 407 instead of connecting`)
  expect(error.fix).toContain('Put user and password into HTTPS_PROXY')
})

test('names the proxy, not the service, if the proxy cannot be reached', async () => {
  const url = await closedUrl()
  setProxies({ http_proxy: url.replace('//', '//me:s3cret@') })
  const error = (await failureOf(
    clientOf('http://firewalled.test', quick).getChain({ chainId: '1' }),
  )) as ExportError
  expect(error.message).toContain(
    `the proxy ${new URL(url).host} of http_proxy cannot be reached (ECONNREFUSED)`,
  )
  expect(error.fix).toContain('Correct http_proxy, or list firewalled.test in NO_PROXY')
  expect(error.message + error.fix).not.toContain('s3cret')
})

test.for([
  {
    when: 'a proxy is used',
    set: 'HTTP_PROXY',
    says: /Requests go through the proxy 127\.0\.0\.1:\d+ of HTTP_PROXY/,
  },
  {
    when: 'no variable is set',
    set: undefined,
    says: /If this network needs a proxy, set HTTPS_PROXY or HTTP_PROXY/,
  },
  {
    when: 'only ALL_PROXY is set',
    set: 'ALL_PROXY',
    says: /ALL_PROXY is not used; set HTTPS_PROXY or HTTP_PROXY/,
  },
])('describes the route of requests if no response arrives in time and $when', async ({ set, says }) => {
  const { url } = await startServer(() => () => {})
  const proxy = await startProxy({ target: url })
  setProxies(set === undefined ? {} : { [set]: proxy.url })
  const client = clientOf(url, { ...quick, timeoutMs: 300 })
  const error = (await failureOf(client.getChain({ chainId: '1' }))) as ExportError
  expect(error.fix).toMatch(says)
})

test.for(['ftp://proxy:21', 'http://', 'http://me:%zz@proxy:1'])(
  'refuses a proxy %s without repeating it',
  (value) => {
    setProxies({ HTTP_PROXY: value })
    expect(() => clientOf('http://firewalled.test')).toThrow(
      expect.objectContaining({ code: 'USAGE', message: 'HTTP_PROXY is not the address of a proxy' }),
    )
  },
)
