import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test, vi } from 'vitest'
import { MAX_MANIFEST_BYTES } from '../../src/core/model/limits.ts'
import { download, downloadText } from '../../src/load/download.ts'
import { startProxy } from '../helpers/proxy.ts'
import { tempFolder } from '../helpers/temp-folder.ts'
import { failureOf, type Reply, startServer } from '../http/server.ts'

const options = { signal: new AbortController().signal, retryDelayMs: 1, idleMs: 300 }

/** Writes without end. */
const endless: Reply = (response) => {
  const chunk = Buffer.alloc(2 ** 20, 'x')
  const more = () => {
    while (!response.destroyed && response.write(chunk));
  }
  response.on('drain', more)
  more()
}

test('stops a manifest download at the size limit', async () => {
  const { url, received } = await startServer(() => endless)
  const failure = await failureOf(downloadText(new URL(`${url}/manifest.json?sig=s3cret`), options))
  expect(failure).toMatchObject({
    code: 'LOAD_FAILED',
    message: `cannot fetch ${url}/manifest.json: it is larger than the limit of ${MAX_MANIFEST_BYTES} bytes`,
  })
  expect(received).toHaveLength(1)
})

test('rejects a file that is larger than the manifest says', async () => {
  const { url } = await startServer(() => endless)
  const to = { path: join(tempFolder(), 'part.csv'), bytes: 1_000 }
  const failure = await failureOf(download(new URL(url), to, options))
  expect(failure).toMatchObject({
    code: 'LOAD_FAILED',
    message: expect.stringContaining('larger than the limit of 1000 bytes'),
  })
})

test.for([
  { what: 'a server that never sends headers', reply: () => {} },
  { what: 'a body that stalls', reply: (response) => response.writeHead(200).write('half') },
] satisfies { what: string; reply: Reply }[])('gives up on $what', { tags: ['long'] }, async ({ reply }) => {
  const { url, received } = await startServer(() => reply)
  const failure = await failureOf(downloadText(new URL(url), options))
  expect(failure).toMatchObject({
    code: 'LOAD_FAILED',
    message: expect.stringContaining('no complete response in time'),
  })
  expect(received).toHaveLength(4)
})

test('fetches a manifest through the proxy of the environment', async () => {
  const { url } = await startServer(() => ({ body: '{}' }))
  const proxy = await startProxy({ target: url })
  for (const [name, value] of Object.entries({ HTTP_PROXY: proxy.url, NO_PROXY: '', no_proxy: '' }))
    vi.stubEnv(name, value)
  try {
    expect(await downloadText(new URL('http://bucket.test/manifest.json'), options)).toBe('{}')
    expect(proxy.requests).toEqual(['GET http://bucket.test/manifest.json'])
  } finally {
    vi.unstubAllEnvs()
  }
})

test('downloads a complete file from a server that closes the connection after it', async () => {
  const body = Buffer.alloc(64 * 1024, 'x')
  const { url } = await startServer(() => (response) => {
    response.writeHead(200, { connection: 'close', 'content-length': body.length }).end(body)
  })
  for (let turn = 0; turn < 20; turn += 1) {
    const path = join(tempFolder(), 'part.csv')
    await download(new URL(url), { path, bytes: body.length }, options)
    expect(readFileSync(path).equals(body)).toBe(true)
  }
})

test('does not treat a full temporary folder as a connection error', async () => {
  const { url, received } = await startServer(() => ({ body: 'some rows' }))
  const failure = await failureOf(download(new URL(url), { path: '/dev/full', bytes: 1_000 }, options))
  expect(failure).toMatchObject({
    code: 'OUTPUT_FAILED',
    message: 'the temporary folder /dev is full',
    fix: expect.stringContaining('TMPDIR'),
  })
  expect(received).toHaveLength(1)
})
