import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { afterEach, expect, test, vi } from 'vitest'
import { type Bucket, openBucket } from '../../src/storage/bucket.ts'
import { openBucketStore } from '../../src/storage/bucket-store.ts'
import { acquireLease, LEASE_FILE } from '../../src/storage/lease.ts'
import { BACKUP_PATH } from '../../src/storage/store.ts'
import { folderTree } from '../helpers/folder-tree.ts'
import { tempFolder } from '../helpers/temp-folder.ts'
import { storeChanges } from './store-changes.ts'

Object.assign(process.env, { AWS_ACCESS_KEY_ID: 'LAKE', AWS_SECRET_ACCESS_KEY: 'lake-secret' })

const closing: (() => void)[] = []
afterEach(() => {
  for (const close of closing.splice(0)) close()
  vi.useRealTimers()
})

const versionOf = (text: string) => createHash('md5').update(text).digest('hex')

/**
 * An object store with conditional writes. It destroys the connection instead of responding to the first
 * `lost` writes after it has carried them out, and breaks off the first `cut` downloads.
 */
async function startStore({ lost = 0, cut = 0, uploads = [] as readonly string[] } = {}) {
  const objects = new Map<string, string>()
  const aborted: string[] = []
  let left = lost
  let cuts = cut
  const put = (key: string, { headers }: IncomingMessage, body: string) => {
    const found = objects.get(key)
    const version = found === undefined ? undefined : versionOf(found)
    if (headers['if-none-match'] === '*' && version !== undefined) return 412
    if (headers['if-match'] !== undefined && headers['if-match'].replaceAll('"', '') !== version) return 412
    objects.set(key, body)
    return 200
  }
  const server = createServer(async (request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? '', 'http://h')
    const key = decodeURIComponent(pathname.replace(/^\/lake\/?/, ''))
    let body = ''
    for await (const chunk of request) body += String(chunk)
    const answer = (status: number, text = '') =>
      response
        .writeHead(status, {
          etag: `"${versionOf(text || body)}"`,
          'last-modified': new Date().toUTCString(),
        })
        .end(text)
    if (request.method === 'PUT') {
      const status = put(key, request, body)
      if (left > 0) {
        left -= 1
        return request.socket.destroy()
      }
      return answer(status)
    }
    if (request.method === 'DELETE') {
      aborted.push(key)
      return answer(204)
    }
    if (request.method === 'POST') {
      for (const [, name = ''] of body.matchAll(/<Key>(.*?)<\/Key>/g)) objects.delete(name)
      return answer(200, '<DeleteResult/>')
    }
    if (searchParams.has('uploads'))
      return answer(200, uploadsXml(uploads.filter((one) => !aborted.includes(one))))
    if (searchParams.has('list-type')) return answer(200, '<ListBucketResult/>')
    const found = objects.get(key)
    if (found !== undefined && cuts > 0) {
      cuts -= 1
      response.writeHead(200, { 'content-length': String(found.length) }).write(found.slice(0, 2))
      return setImmediate(() => request.socket.destroy())
    }
    return found === undefined ? answer(404, '<Error><Code>NoSuchKey</Code></Error>') : answer(200, found)
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  closing.push(() => {
    server.closeAllConnections()
    server.close()
  })
  const endpoint = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return { location: { bucket: 'lake', prefix: '', endpoint }, aborted, objects }
}

const uploadsXml = (keys: readonly string[]) =>
  `<ListMultipartUploadsResult>${keys
    .map((key) => `<Upload><Key>${key}</Key><UploadId>1</UploadId></Upload>`)
    .join('')}</ListMultipartUploadsResult>`

test('a manifest counts as written although the response was lost', async () => {
  const { location } = await startStore({ lost: 1 })
  const bucket = await openBucket(location)
  closing.push(bucket.close)
  expect(await bucket.putText('manifest.json', 'mine', { ifAbsent: true })).toBe(versionOf('mine'))
  expect(await bucket.putText('manifest.json', 'other', { ifAbsent: true })).toBeUndefined()
})

test('a lease is acquired and renewed although responses were lost', async () => {
  const { location, objects } = await startStore({ lost: 1 })
  const bucket = await openBucket(location)
  closing.push(bucket.close)
  const lease = await acquireLease(bucket)
  await lease.require()
  await lease.release()
  expect(objects.has(LEASE_FILE)).toBe(false)
})

test('aborts only unfinished uploads of its own files, not of exports in nested prefixes', async () => {
  const uploads = ['ledger/a.csv', 'other/ledger/a.csv', 'film.mp4']
  const { location, aborted } = await startStore({ uploads })
  const store = await openBucketStore(location, tempFolder())
  expect(aborted).toEqual(['ledger/a.csv'])
  await store.close()
})

const ELSEWHERE = JSON.stringify({
  pid: 1,
  host: 'elsewhere',
  startedAt: '2026-01-01T00:00:00.000Z',
  ticks: null,
})

test('a process that lost its lease while it was suspended stops writing', async () => {
  const { location } = await startStore()
  const bucket = await openBucket(location)
  closing.push(bucket.close)
  let aheadMs = 0
  const suspended: Bucket = { ...bucket, now: () => Date.now() + aheadMs }
  const lease = await acquireLease(suspended)
  aheadMs = 61_000
  await Promise.all([lease.require(), lease.require()])
  await bucket.putText(LEASE_FILE, ELSEWHERE)
  aheadMs *= 2
  await expect(lease.require()).rejects.toMatchObject({
    code: 'OUTPUT_LOCKED',
    message: expect.stringContaining('process 1 on elsewhere'),
  })
  await lease.release()
})

test('no method of a store changes anything once the lease is lost', async () => {
  const { location, objects } = await startStore()
  const folder = tempFolder()
  const store = await openBucketStore(location, folder)
  await store.putManifest('{}')
  for (const path of ['rejects.ndjson', BACKUP_PATH]) await store.putText(path, 'content')
  objects.set(LEASE_FILE, ELSEWHERE)
  vi.useFakeTimers({ now: Date.now() + 61_000, toFake: ['Date'] })
  const before = [new Map(objects), folderTree(folder)]
  for (const [name, change] of storeChanges(store))
    await expect(change(), name).rejects.toMatchObject({ code: 'OUTPUT_LOCKED' })
  expect([objects, folderTree(folder)]).toEqual(before)
  await store.close()
})

test('downloads a file again after the response breaks off', async () => {
  const { location, objects } = await startStore({ cut: 2 })
  const bucket = await openBucket(location)
  closing.push(bucket.close)
  objects.set('a', 'all of it')
  const folder = tempFolder()
  const sha256 = createHash('sha256').update('all of it').digest('hex')
  expect(await bucket.fetch('a', folder)).toBe(sha256)
  expect(readFileSync(join(folder, 'a'), 'utf8')).toBe('all of it')
})
