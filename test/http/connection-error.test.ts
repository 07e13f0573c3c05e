import { createServer as createTcpServer } from 'node:net'
import { expect, test } from 'vitest'
import { describeConnectionError } from '../../src/http/connection-error.ts'
import type { RequestEvent } from '../../src/http/request.ts'
import type { ExportError } from '../../src/index.ts'
import { isMissing } from '../helpers/programs.ts'
import { closedUrl, listenOnLoopback } from '../helpers/serve.ts'
import { clientOf, failureOf, startServer } from './server.ts'
import { startTlsServer } from './tls-server.ts'

const retry = { retries: 7, firstDelayMs: 1, maxDelayMs: 2 }

/** Requests a chain that cannot be read. Returns the error and the number of retries. */
async function askAt(url: string): Promise<{ error: ExportError; retries: number }> {
  const events: RequestEvent[] = []
  const client = clientOf(url, { retry, onEvent: (event) => events.push(event) })
  const error = (await failureOf(client.getChain({ chainId: '1' }))) as ExportError
  return { error, retries: events.filter(({ kind }) => kind === 'retried').length }
}

test('gives up early when HTTPS is requested from an HTTP server', async () => {
  const { url, received } = await startServer(() => ({ body: {} }))
  const { error, retries } = await askAt(url.replace('http:', 'https:'))
  expect(error.code).toBe('SERVICE_UNAVAILABLE')
  expect(error.message).toMatch(/^chain 1: the server at https:\/\/127\.0\.0\.1:\d+ does not speak HTTPS/)
  expect(error.fix).toMatch(/^Correct host and port in the base URL .* must speak HTTPS there\.$/)
  expect(error.fix).not.toContain('http:')
  expect({ retries, received }).toEqual({ retries: 2, received: [] })
})

test('gives up early when the server does not speak HTTP', async () => {
  const port = await listenOnLoopback(createTcpServer((socket) => socket.end('SSH-2.0-OpenSSH_9\r\n')))
  const { error, retries } = await askAt(`http://127.0.0.1:${port}`)
  expect(error.message).toContain(`the server at http://127.0.0.1:${port} does not speak HTTP (`)
  expect(error.fix).toContain('may have to be https://')
  expect(retries).toBe(2)
})

test.skipIf(isMissing('openssl'))('gives up early on a certificate that is not trusted', async () => {
  const { url } = await startTlsServer('{}')
  const { error, retries } = await askAt(url)
  expect(error.message).toBe(
    `chain 1: the certificate at ${url} is not trusted (DEPTH_ZERO_SELF_SIGNED_CERT)`,
  )
  expect(error.fix).toContain('NODE_EXTRA_CA_CERTS')
  expect(retries).toBe(2)
})

test('gives up early on an unknown host', async () => {
  const { error, retries } = await askAt('http://nowhere.invalid/base')
  expect(error.message).toMatch(/^chain 1: host not found: http:\/\/nowhere\.invalid\/base/)
  expect(error.fix).toContain('Correct the host in the base URL (service.baseUrl, ')
  expect(error.fix).not.toContain('same command')
  expect(retries).toBe(2)
})

test('keeps retrying when nothing listens, because the service may be starting', async () => {
  const url = await closedUrl()
  const { error, retries } = await askAt(url)
  expect(error.message).toBe(`chain 1: nothing listens at ${url} (ECONNREFUSED)`)
  expect(error.fix).toContain('Start the service, or correct host and port')
  expect(retries).toBe(7)
})

test('keeps retrying when connections break, and suggests HTTPS', async () => {
  const port = await listenOnLoopback(createTcpServer((socket) => socket.resetAndDestroy()))
  const { error, retries } = await askAt(`http://127.0.0.1:${port}`)
  expect(error.message).toContain(`the connection to 127.0.0.1:${port} failed (`)
  expect(error.fix).toContain('If the service speaks HTTPS, use https://')
  expect(retries).toBe(7)
})

test.for([
  { form: 'its content type', headers: { 'content-type': 'text/html; charset=utf-8' }, body: 'Sign in' },
  { form: 'the start of its body', headers: {}, body: '\n<!DOCTYPE html><html><body>Sign in</body></html>' },
])('gives up early on a web page, recognized by $form', async ({ headers, body }) => {
  const { url, received } = await startServer(() => ({ headers, body }))
  const { error } = await askAt(`${url}/app`)
  expect(error.code).toBe('PAGE_MALFORMED')
  expect(error.message).toBe(`chain 1: a web page was returned by ${url}/app/v1/chains/1`)
  expect(error.fix).toContain('to the data service itself')
  expect(received).toHaveLength(3)
})

test('keeps retrying on a web page once the service has responded', async () => {
  const { url, received } = await startServer((_, count) =>
    count === 1 ? { body: { chainId: '1' } } : { headers: { 'content-type': 'text/html' }, body: '<html>' },
  )
  const client = clientOf(url, { retry })
  await client.getChain({ chainId: '1' })
  const error = (await failureOf(client.getChain({ chainId: '1' }))) as ExportError
  expect(error.message).toContain('a web page was returned by')
  expect(error.fix).toBe('Run the same command again: it resumes where it stopped.')
  expect(received).toHaveLength(1 + 8)
})

test('names the requested URL if the first response is 404', async () => {
  const { url } = await startServer(() => ({ status: 404, body: { message: 'no such thing' } }))
  const { error } = await askAt(`${url}/api`)
  expect(error.code).toBe('REQUEST_REFUSED')
  expect(error.fix).toContain(`The request went to ${url}/api/v1/chains/1. Check the chain, and the base URL`)
})

test.for([
  {
    form: 'JSON of an explorer',
    body: { status: '0', result: null, message: 'Not found' },
    fix: /^The base URL is that of an explorer: set service\.api/,
  },
  {
    form: 'a web page',
    body: '<!DOCTYPE html><title>404</title>',
    fix: /If it is an explorer, set service\.api .+ etherscan or blockscout/,
  },
])('names the other APIs if the first response is 404 with $form', async ({ body, fix }) => {
  const { url } = await startServer(() => ({ status: 404, body }))
  expect((await askAt(url)).error.fix).toMatch(fix)
})

test('names the target of a redirect, without its query', async () => {
  const { url, received } = await startServer(({ path }) => ({
    status: 308,
    headers: { location: `https://new.example.com/data${path}?key=s3cret` },
  }))
  const { error } = await askAt(url)
  expect(error.code).toBe('REQUEST_REFUSED')
  expect(error.fix).toContain('this one points to https://new.example.com/data. If that is the service')
  expect(error.message + error.fix).not.toContain('s3cret')
  expect(received).toHaveLength(1)
})

test.for([
  ['EAI_AGAIN', 'cannot be resolved at the moment', undefined],
  ['UND_ERR_CONNECT_TIMEOUT', 'cannot connect to', undefined],
  ['ENETUNREACH', 'cannot connect to', undefined],
  ['ERR_TLS_CERT_ALTNAME_INVALID', 'is issued for another host', true],
  ['CERT_HAS_EXPIRED', 'has expired or is not valid yet', true],
  ['UNABLE_TO_VERIFY_LEAF_SIGNATURE', 'is not trusted', true],
] as const)('explains %s', ([code, says, isPermanent]) => {
  const words = describeConnectionError([code], 'https://api.example.com')
  expect(words).toMatchObject({ message: expect.stringContaining(says), fix: expect.stringMatching(/\.$/) })
  expect(words.message).toContain(code)
  expect(words.isPermanent).toBe(isPermanent)
})
