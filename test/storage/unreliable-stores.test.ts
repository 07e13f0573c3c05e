import { createHash } from 'node:crypto'
import { afterEach, expect, onTestFinished, test, vi } from 'vitest'
import { ExportError } from '../../src/core/model/errors.ts'
import { MANIFEST_FILE } from '../../src/core/model/manifest.ts'
import type { Job } from '../../src/core/model/model.ts'
import { run } from '../../src/export/run.ts'
import { compactOutput } from '../../src/files/compact.ts'
import { type Bucket, openBucket } from '../../src/storage/bucket.ts'
import { openBucketStore } from '../../src/storage/bucket-store.ts'
import { acquireLease, LEASE_FILE } from '../../src/storage/lease.ts'
import { testJob } from '../helpers/jobs.ts'
import { demoWallets } from '../helpers/node-data.ts'
import { type ObjectStore, startObjectStore } from '../helpers/object-store.ts'
import { tempFolder } from '../helpers/temp-folder.ts'

afterEach(() => void vi.useRealTimers())

async function openStoreWith(intercept?: ObjectStore['intercept']) {
  const store = await startObjectStore()
  store.intercept = intercept
  const bucket = await openBucket(store.location)
  onTestFinished(bucket.close)
  return { store, bucket }
}

const jobIn = ({ location }: ObjectStore, fields: Partial<Job> = {}) =>
  testJob({ addresses: demoWallets.slice(0, 2), store: location, output: tempFolder(), ...fields })

const PORTAL = '<!DOCTYPE html><html><body>Please log in</body></html>'

test.for(['text/html', 'application/xml'])(
  'an endpoint that answers every request with a page of %s is no object store',
  async (type) => {
    const { store } = await openStoreWith((_, response) => {
      response.writeHead(200, { 'content-type': type }).end(PORTAL)
      return true
    })
    const { jobs } = await run([jobIn(store)])
    expect(jobs[0]).toMatchObject({
      state: 'failed',
      error: {
        code: 'OUTPUT_FAILED',
        message: `the endpoint ${store.endpoint} is no object store: it answers PutObject with status 200 and ${type}, without ETag`,
        fix: expect.stringContaining('AWS_ENDPOINT_URL_S3'),
      },
    })
  },
)

const uses: readonly (readonly [string, (bucket: Bucket) => Promise<unknown>])[] = [
  ['PutObject', (bucket) => bucket.putText('a', 'text')],
  ['GetObject', (bucket) => bucket.readText('a')],
  ['ListObjectsV2', (bucket) => bucket.sizes('')],
  ['ListMultipartUploads', (bucket) => bucket.abortUploads(() => true)],
  ['DeleteObjects', (bucket) => bucket.remove(['a'])],
  ['CopyObject', (bucket) => bucket.copy('a', 'b')],
]

test.for(uses)('a response to %s counts only with evidence of an object store', async ([name, use]) => {
  const { bucket } = await openStoreWith((_, response) => {
    response.writeHead(200, { 'content-type': 'text/html; charset=utf-8' }).end('<html/>')
    return true
  })
  await expect(use(bucket)).rejects.toMatchObject({
    code: 'OUTPUT_FAILED',
    message: expect.stringContaining(`it answers ${name} with status 200`),
  })
})

test('an error that a store reports with status 200 is still that error', async () => {
  const { bucket } = await openStoreWith((_, response) => {
    response.end('<?xml version="1.0"?>\n<Error><Code>AccessDenied</Code></Error>')
    return true
  })
  await expect(bucket.sizes('')).rejects.toMatchObject({
    message: expect.not.stringContaining('is no object store'),
  })
})

test('a request to a store that never answers ends by timeout', async () => {
  const store = await startObjectStore()
  let requests = 0
  store.intercept = () => ++requests > 0
  const bucket = await openBucket(store.location, { timeoutMs: 20 })
  onTestFinished(bucket.close)
  await expect(bucket.readText('a')).rejects.toMatchObject({
    code: 'OUTPUT_FAILED',
    message: expect.stringContaining('does not answer in time'),
    fix: expect.stringContaining('Check the endpoint'),
  })
  // On a slow machine, a request may time out before the store has received it.
  expect(requests).toBeLessThanOrEqual(5)
})

test.for(['headers', 'body'])(
  'a run whose store does not send the %s of an answer ends at its deadline',
  { tags: ['long'] },
  async (missing) => {
    vi.useFakeTimers({
      toFake: ['setTimeout', 'clearTimeout'],
      shouldAdvanceTime: true,
      advanceTimeDelta: 500,
    })
    const { store } = await openStoreWith((_, response) => {
      if (missing === 'body') response.writeHead(200, { etag: '"1"', 'content-length': '100' }).write('<')
      return true
    })
    const { jobs } = await run([jobIn(store)], { deadlineMs: 1_000 })
    expect(jobs[0]?.error).toMatchObject({ code: 'BUDGET_REACHED', message: 'the deadline is reached' })
  },
)

test('a store that answers can still release its lease after the deadline', async () => {
  const { store } = await openStoreWith()
  const controller = new AbortController()
  const opened = await openBucketStore(store.location, tempFolder(), controller.signal)
  controller.abort(new ExportError('BUDGET_REACHED', 'the deadline is reached'))
  expect([...store.objects.keys()]).toEqual([LEASE_FILE])
  await opened.close()
  expect([...store.objects.keys()]).toEqual([])
})

test('reads a small object again after its response breaks off', async () => {
  let cuts = 2
  const { store, bucket } = await openStoreWith(({ method, socket }, response) => {
    if (method !== 'GET' || cuts === 0) return false
    cuts -= 1
    response.writeHead(200, { etag: '"1"', 'content-length': '9' }).write('al')
    setImmediate(() => socket.destroy())
    return true
  })
  store.objects.set('a', Buffer.from('all of it'))
  expect(await bucket.readText('a')).toMatchObject({ text: 'all of it' })
})

test.for([
  {
    what: 'objects',
    use: (bucket: Bucket) => bucket.sizes(''),
    page: (at: number) =>
      `<ListBucketResult><IsTruncated>true</IsTruncated><NextContinuationToken>${at % 3}</NextContinuationToken></ListBucketResult>`,
  },
  {
    what: 'uploads',
    use: (bucket: Bucket) => bucket.abortUploads(() => true),
    page: (at: number) =>
      `<ListMultipartUploadsResult><IsTruncated>true</IsTruncated><NextKeyMarker>${at % 3}</NextKeyMarker></ListMultipartUploadsResult>`,
  },
])('a listing of $what that repeats a continuation token ends with an error', async ({ use, page }) => {
  let pages = 0
  const { bucket } = await openStoreWith((_, response) => {
    pages += 1
    response.end(pages < 100 ? page(pages) : page(pages).replace('true', 'false'))
    return true
  })
  await expect(use(bucket)).rejects.toMatchObject({
    code: 'OUTPUT_FAILED',
    message: expect.stringContaining('repeats a continuation token'),
  })
  expect(pages).toBeLessThan(5)
})

test('a lease names at most 255 characters of the host that holds it', async () => {
  const { store, bucket } = await openStoreWith()
  const holder = { pid: 1, host: 'h'.repeat(100_000), startedAt: 't'.repeat(100_000), ticks: null }
  store.objects.set(LEASE_FILE, Buffer.from(JSON.stringify(holder)))
  const error = await acquireLease(bucket).catch((thrown: unknown) => thrown)
  expect(error).toMatchObject({ code: 'OUTPUT_LOCKED' })
  expect(String(error).length).toBeLessThan(700)
})

test('compact removes nothing after a stale read of the manifest', async () => {
  const { store } = await openStoreWith()
  const job = jobIn(store)
  await run([job])
  const stale = store.objects.get(MANIFEST_FILE) ?? Buffer.alloc(0)
  // Another run adds a file, and the store shows readers the manifest from before.
  store.objects.set(MANIFEST_FILE, Buffer.concat([stale, Buffer.from('\n')]))
  store.objects.set('ledger/ledger-000000000421-000000000999-0000.csv', Buffer.from('new'))
  store.intercept = ({ method, url }, response) => {
    if (method !== 'GET' || !url?.includes(`/${MANIFEST_FILE}`)) return false
    const etag = `"${createHash('md5').update(stale).digest('hex')}"`
    response.writeHead(200, { etag, 'last-modified': new Date().toUTCString() }).end(stale)
    return true
  }
  const before = [...store.objects.keys()]
  await expect(compactOutput({ output: job.output, store: store.location })).rejects.toMatchObject({
    code: 'OUTPUT_LOCKED',
    message: expect.stringContaining('another run has published there'),
  })
  expect([...store.objects.keys()]).toEqual(before)
})

test.for([
  { fresh: true, text: '{"name":"a web app"}' },
  { fresh: false, text: '{"schemaVersion":2,"mediaType":"application/vnd.oci.image.manifest.v1+json"}' },
  { fresh: true, text: '{"name":"cut of' },
])(
  'a run (fresh: $fresh) does not replace a manifest $text of another program in a bucket',
  async ({ fresh, text }) => {
    const { store } = await openStoreWith()
    store.objects.set(MANIFEST_FILE, Buffer.from(text))
    const { jobs } = await run([jobIn(store)], { fresh })
    expect(jobs[0]?.error).toMatchObject({
      code: 'USAGE',
      message: 's3://lake/manifest.json belongs to no export, and would be replaced',
    })
    expect(String(store.objects.get(MANIFEST_FILE))).toBe(text)
  },
)
