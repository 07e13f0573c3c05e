import { type AddressInfo, createServer as createTcpServer, type Server } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { describeConnectionError } from '../../src/http/connection-error.ts'
import type { RequestEvent } from '../../src/http/request-events.ts'
import type { ExportError } from '../../src/index.ts'
import { isMissing } from '../helpers/programs.ts'
import { startTlsServer } from '../helpers/tls-server.ts'
import { clientOf, closedUrl, failureOf, startServer } from './server.ts'

const retry = { retries: 7, firstDelayMs: 1, maxDelayMs: 2 }

/** What asking for a chain ends with, and how often it was asked again. */
async function askAt(url: string): Promise<{ error: ExportError; retries: number }> {
  const events: RequestEvent[] = []
  const client = clientOf(url, { retry, onEvent: (event) => events.push(event) })
  const error = (await failureOf(client.getChain({ chainId: '1' }))) as ExportError
  return { error, retries: events.filter(({ kind }) => kind === 'retried').length }
}

/** The port that a server gets; it ends with the test. */
async function portOf(server: Server): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close())
  return (server.address() as AddressInfo).port
}

test('gives up early where https is asked of http, and says so', async () => {
  const { url, asked } = await startServer(() => ({ body: {} }))
  const { error, retries } = await askAt(url.replace('http:', 'https:'))
  expect(error.code).toBe('SERVICE_UNAVAILABLE')
  expect(error.message).toMatch(/^chain 1: what answers at https:\/\/127\.0\.0\.1:\d+ does not speak https/)
  expect(error.fix).toMatch(/^Correct host and port in the base URL .* has to speak https there\.$/)
  expect(error.fix).not.toContain('http:')
  expect({ retries, asked }).toEqual({ retries: 2, asked: [] })
})

test('gives up early where what answers does not speak http', async () => {
  const port = await portOf(createTcpServer((socket) => socket.end('SSH-2.0-OpenSSH_9\r\n')))
  const { error, retries } = await askAt(`http://127.0.0.1:${port}`)
  expect(error.message).toContain(`what answers at http://127.0.0.1:${port} does not speak http (`)
  expect(error.fix).toContain('https://, perhaps')
  expect(retries).toBe(2)
})

test.skipIf(isMissing('openssl'))('gives up early at a certificate that is not trusted', async () => {
  const { url } = await startTlsServer('{}')
  const { error, retries } = await askAt(url)
  expect(error.message).toBe(
    `chain 1: the certificate at ${url} is not trusted (DEPTH_ZERO_SELF_SIGNED_CERT)`,
  )
  expect(error.fix).toContain('NODE_EXTRA_CA_CERTS')
  expect(retries).toBe(2)
})

test('gives up early at a host that nobody knows', async () => {
  const { error, retries } = await askAt('http://nowhere.invalid/base')
  expect(error.message).toMatch(/^chain 1: no host of this name is known: http:\/\/nowhere\.invalid\/base/)
  expect(error.fix).toContain('Correct the host in the base URL (service.baseUrl, ')
  expect(error.fix).not.toContain('same command')
  expect(retries).toBe(2)
})

test('tries on where nothing listens, for the service may be starting', async () => {
  const url = await closedUrl()
  const { error, retries } = await askAt(url)
  expect(error.message).toBe(`chain 1: nothing listens at ${url} (ECONNREFUSED)`)
  expect(error.fix).toContain('Start the service, or correct host and port')
  expect(retries).toBe(7)
})

test('tries on where connections break, and thinks of https', async () => {
  const port = await portOf(createTcpServer((socket) => socket.resetAndDestroy()))
  const { error, retries } = await askAt(`http://127.0.0.1:${port}`)
  expect(error.message).toContain(`the connection to 127.0.0.1:${port} failed (`)
  expect(error.fix).toContain('If the service speaks https, write https://')
  expect(retries).toBe(7)
})

test.for([
  { form: 'its type', headers: { 'content-type': 'text/html; charset=utf-8' }, body: 'Sign in' },
  { form: 'its first words', headers: {}, body: '\n<!DOCTYPE html><html><body>Sign in</body></html>' },
])('gives up early at a web page, known by $form', async ({ headers, body }) => {
  const { url, asked } = await startServer(() => ({ headers, body }))
  const { error } = await askAt(`${url}/app`)
  expect(error.code).toBe('PAGE_MALFORMED')
  expect(error.message).toBe(`chain 1: a web page answers at ${url}/app/v1/chains/1`)
  expect(error.fix).toContain('to the data service itself')
  expect(asked).toHaveLength(3)
})

test('tries on at a web page once the service has answered', async () => {
  const { url, asked } = await startServer((_, count) =>
    count === 1 ? { body: { chainId: '1' } } : { headers: { 'content-type': 'text/html' }, body: '<html>' },
  )
  const client = clientOf(url, { retry })
  await client.getChain({ chainId: '1' })
  const error = (await failureOf(client.getChain({ chainId: '1' }))) as ExportError
  expect(error.message).toContain('a web page answers at')
  expect(error.fix).toBe('Run the same command again: it resumes where it stopped.')
  expect(asked).toHaveLength(1 + 8)
})

test('names the address that was asked where the first answer is 404', async () => {
  const { url } = await startServer(() => ({ status: 404, body: { message: 'no such thing' } }))
  const { error } = await askAt(`${url}/api`)
  expect(error.code).toBe('REQUEST_REFUSED')
  expect(error.fix).toContain(`Asked was ${url}/api/v1/chains/1. Check the chain, and the base URL`)
})

test('leads to where a redirect points, without its query', async () => {
  const { url, asked } = await startServer(({ path }) => ({
    status: 308,
    headers: { location: `https://new.example.com/data${path}?key=s3cret` },
  }))
  const { error } = await askAt(url)
  expect(error.code).toBe('REQUEST_REFUSED')
  expect(error.fix).toContain('this one leads to https://new.example.com/data. If that is the service')
  expect(error.message + error.fix).not.toContain('s3cret')
  expect(asked).toHaveLength(1)
})

test.for([
  ['EAI_AGAIN', 'cannot be looked up now', undefined],
  ['UND_ERR_CONNECT_TIMEOUT', 'no connection to', undefined],
  ['ENETUNREACH', 'no connection to', undefined],
  ['ERR_TLS_CERT_ALTNAME_INVALID', 'is for another host', true],
  ['CERT_HAS_EXPIRED', 'is not valid now', true],
  ['UNABLE_TO_VERIFY_LEAF_SIGNATURE', 'is not trusted', true],
] as const)('says what %s means', ([code, says, isPermanent]) => {
  const words = describeConnectionError([code], 'https://api.example.com')
  expect(words).toMatchObject({ message: expect.stringContaining(says), fix: expect.stringMatching(/\.$/) })
  expect(words.message).toContain(code)
  expect(words.isPermanent).toBe(isPermanent)
})
