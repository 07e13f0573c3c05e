// @module-tag long

import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { BucketLocation } from '../../src/core/model/model.ts'
import { TABLE_NAMES } from '../../src/core/table/index.ts'
import { compactOutput } from '../../src/files/compact.ts'
import { type Bucket, openBucket } from '../../src/storage/bucket.ts'
import { bucketUrl } from '../../src/storage/bucket-url.ts'
import { fetchExport } from '../../src/storage/fetch-export.ts'
import { openStore } from '../../src/storage/open-store.ts'
import { runCommand, startCommand } from '../helpers/command.ts'
import { exportDemo } from '../helpers/demo-export.ts'
import {
  bucketLocations,
  expectSameAsFresh,
  growingChain,
  headJob,
  runOnce,
} from '../helpers/growing-chain.ts'
import { smallWallets } from '../helpers/node-data.ts'
import { outputBytes } from '../helpers/output-bytes.ts'
import { readManifest } from '../helpers/read-output.ts'
import { createSeededRandom } from '../helpers/seeded-random.ts'
import { noRedis } from '../helpers/start-redis.ts'
import { suiteFolder, tempFolder } from '../helpers/temp-folder.ts'
import { runOverQueue } from './over-a-queue.ts'
import { noRadosgw, type Radosgw, startRadosgw } from './start-radosgw.ts'

/** Enough wallets for tables of several files. */
const addresses = smallWallets

/** Number of times that a publishing run is killed. */
const KILLS = Number(process.env.WALLETLAKE_UPLOAD_KILLS ?? 3)

let radosgw: Radosgw
const folder = suiteFolder()
const whole = join(folder, 'whole')

beforeAll(async () => {
  if (noRadosgw) return
  radosgw = await startRadosgw()
  bucketLocations.next = radosgw.newLocation
  await exportDemo(whole, { addresses, maxRowsPerFile: 200 })
})

afterAll(() => {
  bucketLocations.next = undefined
  return radosgw?.stop()
})

async function withBucket<T>(location: BucketLocation, use: (bucket: Bucket) => Promise<T>): Promise<T> {
  const bucket = await openBucket(location)
  try {
    return await use(bucket)
  } finally {
    bucket.close()
  }
}

/**
 * Writes a job file that exports the demo wallets to this location. Commands find the endpoint in the
 * environment.
 */
function jobFile(location: BucketLocation, more: object = { service: { baseUrl: 'demo' } }): string {
  const file = join(tempFolder(), 'test.yaml')
  const { bucket, prefix, endpoint } = location
  const fields = {
    chain: 43114,
    endBlock: 421,
    addresses,
    maxRowsPerFile: 200,
    output: `s3://${bucket}/${prefix}`,
    store: { endpoint },
    ...more,
  }
  writeFileSync(file, JSON.stringify(fields))
  return file
}

/** The files of a published export by path, as readers of the object store see them. */
async function publishedBytes(location: BucketLocation) {
  const copy = tempFolder()
  await fetchExport(location, copy)
  return outputBytes(copy)
}

const command = (args: readonly string[], cwd = tempFolder()) =>
  runCommand(args, { AWS_ENDPOINT_URL_S3: radosgw.endpoint }, { cwd })

describe.skipIf(noRadosgw)('an object store', async () => {
  test('writes an object only if it does not exist or still has the given version', async () => {
    await withBucket(radosgw.newLocation(), async (bucket) => {
      const first = (await bucket.putText('a', '1', { ifAbsent: true })) ?? ''
      expect(await bucket.putText('a', '2', { ifAbsent: true })).toBeUndefined()
      const second = (await bucket.putText('a', '3', { ifVersion: first })) ?? ''
      expect(await bucket.putText('a', '4', { ifVersion: first })).toBeUndefined()
      expect(await bucket.readText('a')).toMatchObject({ text: '3', version: second })
      expect(await bucket.readText('b')).toBeUndefined()
    })
  })

  test('lists and removes only objects below its own prefix', async () => {
    const location = radosgw.newLocation()
    const beside = { ...location, prefix: `${location.prefix}0` }
    await withBucket(beside, (bucket) => bucket.putText('x', 'beside'))
    await withBucket(location, async (bucket) => {
      await bucket.putText('t/x', 'here')
      expect([...(await bucket.sizes(''))]).toEqual([['t/x', 4]])
      await bucket.remove(['t/x', 'x'])
      expect((await bucket.sizes('')).size).toBe(0)
    })
    expect(await withBucket(beside, (bucket) => bucket.readText('x'))).toMatchObject({ text: 'beside' })
  })

  test('stores multipart files unchanged and aborts unfinished uploads', async () => {
    const [location, from, to] = [radosgw.newLocation(), join(tempFolder(), 'a'), join(tempFolder(), 'b')]
    writeFileSync(from, Buffer.alloc(20_000_000, 'walletlake'))
    const s3 = await import('@aws-sdk/client-s3')
    const client = new s3.S3Client({ endpoint: radosgw.endpoint, region: 'us-east-1', forcePathStyle: true })
    const upload = { Bucket: location.bucket, Key: `${location.prefix}/ledger/begun` }
    await client.send(new s3.CreateMultipartUploadCommand(upload))
    const left = async () =>
      (await client.send(new s3.ListMultipartUploadsCommand({ Bucket: location.bucket }))).Uploads?.length ??
      0
    expect(await left()).toBe(1)
    await withBucket(location, async (bucket) => {
      await bucket.abortUploads((path) => path === 'ledger/begun')
      await bucket.putFile('a', from)
      const sha256 = await bucket.fetch('a', to)
      expect(sha256).toBe('505e42c30554c1a296ea3127a538d7a2caa43eb2da41ce510a0c1bc4f28b683c')
      expect(await bucket.fetch('none', to)).toBeUndefined()
    })
    expect(await left()).toBe(0)
    client.destroy()
  })

  test('contains the same files as a folder, and every command reads them', async () => {
    const location = radosgw.newLocation()
    const [file, cwd] = [jobFile(location), tempFolder()]
    expect(await command(['run', file, '--quiet'], cwd)).toMatchObject({ exit: 0 })
    expect(await publishedBytes(location)).toEqual(outputBytes(whole))
    const name = bucketUrl(location)
    for (const args of [
      ['verify', name],
      ['status', name],
      ['plan', file],
      ['balances', name],
      ['query', name, 'select count(*) from ledger'],
      ['convert', name, '--to', 'generic', '--out', 'books.csv'],
      ['load', name, '--to', 'duckdb:lake.db'],
      ['report', name],
      ['compact', name],
      ['verify', name],
    ])
      expect([args[0], await command(args, cwd)]).toMatchObject([args[0], { exit: 0 }])
    const compacted = await publishedBytes(location)
    expect(Object.keys(compacted).filter((path) => path.startsWith('ledger/'))).toHaveLength(1)
    expect(await withBucket(location, (bucket) => bucket.sizes('report.html'))).toHaveProperty('size', 1)
    const again = await command(['run', file, '--fresh', '--quiet'], cwd)
    expect(again).toMatchObject({ exit: 0 })
    expect(await publishedBytes(location)).toEqual(outputBytes(whole))
  })

  test('continues with incremental runs from any machine and after compaction', async () => {
    const chain = await growingChain(60)
    const job = headJob(chain.url, { count: 12 })
    const { store } = job
    for (const output of [job.output, job.output, tempFolder(), job.output]) {
      await runOnce({ ...job, output })
      await chain.advance(40)
    }
    await expectSameAsFresh({ ...job, ...(await moved(job)) })
    await compactOutput({ output: job.output, store })
    await chain.advance(40)
    await runOnce(job)
    expect(readManifest(job.output).tables.ledger?.files.length).toBeLessThan(4)
    await expectSameAsFresh(job)

    async function moved(of: typeof job) {
      await runOnce(of)
      return { output: of.output }
    }
  })

  test('lets one of two concurrent runs publish and refuses the other', async () => {
    const location = radosgw.newLocation()
    const runs = await Promise.all(
      [1, 2].map(() => command(['run', jobFile(location), '--quiet', '--state-dir', tempFolder()])),
    )
    expect(runs.map(({ exit }) => exit).sort()).toEqual([0, 8])
    const { stderr = '' } = runs.find(({ exit }) => exit === 8) ?? {}
    expect(stderr).toMatch(/OUTPUT_LOCKED: test: s3:\/\/lake\/.*: process \d+ on .* holds the output/)
    expect(await publishedBytes(location)).toEqual(outputBytes(whole))
  })

  test.skipIf(noRedis)('is sufficient as shared storage for a run over a queue', async () => {
    const location = radosgw.newLocation()
    const job = jobFile(location, { partitionBy: 'blocks:100', service: undefined })
    expect(await runOverQueue(job, radosgw.endpoint)).toEqual({ exit: 0, isKilled: true })
    const output = join(tempFolder(), 'alone')
    await exportDemo(output, { addresses, maxRowsPerFile: 200, partitionBy: 'blocks:100' })
    expect(await publishedBytes(location)).toEqual(outputBytes(output))
    const paths = await withBucket(location, async (bucket) => [...(await bucket.sizes('')).keys()])
    expect(paths.filter((path) => path.startsWith('.walletlake/'))).toEqual([])
  })

  test('does not overwrite a manifest that another run has published', async () => {
    const location = radosgw.newLocation()
    const store = await openStore({ output: tempFolder(), store: location })
    await withBucket(location, (bucket) => bucket.putText('manifest.json', 'of another'))
    await expect(store.putManifest('mine')).rejects.toMatchObject({ code: 'OUTPUT_LOCKED' })
    await store.close()
    expect(await withBucket(location, (bucket) => bucket.readText('manifest.json'))).toMatchObject({
      text: 'of another',
    })
  })

  test('never lists a partial file in a manifest, however often runs are killed', async () => {
    const location = radosgw.newLocation()
    const [file, cwd, random] = [jobFile(location), tempFolder(), createSeededRandom(7)]
    for (let kills = 0; kills < KILLS; kills += 1) {
      const env = { AWS_ENDPOINT_URL_S3: radosgw.endpoint }
      const running = startCommand(['run', file, '--quiet', ...(kills % 2 ? ['--fresh'] : [])], env, { cwd })
      const timer = setTimeout(() => running.kill('SIGKILL'), 500 + 3_000 * random.next())
      await running.ended
      clearTimeout(timer)
      const has = await withBucket(location, (bucket) => bucket.readText('manifest.json'))
      if (has !== undefined) expect(await command(['verify', bucketUrl(location)])).toMatchObject({ exit: 0 })
    }
    expect(await command(['run', file, '--quiet'], cwd)).toMatchObject({ exit: 0 })
    expect(await publishedBytes(location)).toEqual(outputBytes(whole))
    const names = [...(await withBucket(location, (bucket) => bucket.sizes(''))).keys()]
    const otherNames = names.filter((path) => !TABLE_NAMES.some((table) => path.startsWith(`${table}/`)))
    expect(otherNames.filter((path) => !path.startsWith('runs/'))).toEqual(['manifest.json'])
  })

  test.for([
    { what: 'without credentials', env: { AWS_ACCESS_KEY_ID: '' }, says: 'Set AWS_ACCESS_KEY_ID' },
    { what: 'with a wrong key', env: { AWS_SECRET_ACCESS_KEY: 'no' }, says: 'Grant these credentials' },
    { what: 'with a bucket that does not exist', names: 's3://nobody/a', says: 'Create the bucket' },
    {
      what: 'with an endpoint that does not respond',
      env: { AWS_ENDPOINT_URL_S3: 'http://127.0.0.1:9' },
      says: 'Check the endpoint',
    },
  ])('reports a fix when it is accessed $what', async ({ env = {}, names = 's3://lake/a', says }) => {
    const base = { AWS_ENDPOINT_URL_S3: radosgw.endpoint, AWS_EC2_METADATA_DISABLED: 'true' }
    const { exit, stderr } = await runCommand(['verify', names], { ...base, ...env })
    expect(exit).toBe(7)
    expect(stderr).toContain(`OUTPUT_FAILED: cannot read ${names}/manifest.json: `)
    expect(stderr).toContain(`fix: ${says}`)
  })
})
