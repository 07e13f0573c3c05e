import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { BucketLocation } from '../../src/core/model/model.ts'
import { TABLE_NAMES } from '../../src/core/table/index.ts'
import { compactOutput } from '../../src/files/compact/compact.ts'
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
import { demoWallets } from '../helpers/node-data.ts'
import { outputBytes } from '../helpers/output-bytes.ts'
import { readManifest } from '../helpers/read-output.ts'
import { createSeededRandom } from '../helpers/seeded-random.ts'
import { noRedis } from '../helpers/start-redis.ts'
import { suiteFolder, tempFolder } from '../helpers/temp-folder.ts'
import { runOverQueue } from './over-a-queue.ts'
import { noRadosgw, type Radosgw, startRadosgw } from './start-radosgw.ts'

/** Enough wallets for tables of several files. */
const addresses = demoWallets.slice(0, 16)

/** Kills of a run that publishes. */
const KILLS = Number(process.env.WALLETLAKE_UPLOAD_KILLS ?? 3)

let radosgw: Radosgw
const folder = suiteFolder()
const whole = join(folder, 'whole')

beforeAll(async () => {
  if (noRadosgw) return
  radosgw = await startRadosgw()
  bucketLocations.next = radosgw.place
  await exportDemo(whole, { addresses, maxRowsPerFile: 1_000 })
})

afterAll(() => radosgw?.stop())

async function withBucket<T>(place: BucketLocation, use: (bucket: Bucket) => Promise<T>): Promise<T> {
  const bucket = await openBucket(place)
  try {
    return await use(bucket)
  } finally {
    bucket.close()
  }
}

/** A job of all demo wallets that is exported there, as a file; commands find the store by the environment. */
function jobFile(place: BucketLocation, more: object = { service: { baseUrl: 'demo' } }): string {
  const file = join(tempFolder(), 'test.yaml')
  const { bucket, prefix, endpoint } = place
  const fields = {
    ...{ chain: 43114, endBlock: 421, addresses, maxRowsPerFile: 1_000 },
    ...{ output: `s3://${bucket}/${prefix}`, store: { endpoint }, ...more },
  }
  writeFileSync(file, JSON.stringify(fields))
  return file
}

/** The bytes of an export by path, as readers of the object store see them. */
async function publishedBytes(place: BucketLocation) {
  const copy = tempFolder()
  await fetchExport(place, copy)
  return outputBytes(copy)
}

const command = (args: readonly string[], cwd = tempFolder()) =>
  runCommand(args, { AWS_ENDPOINT_URL_S3: radosgw.endpoint }, { cwd })

describe.skipIf(noRadosgw)('an object store', async () => {
  test('writes an object only where none is, or where it is still the same', async () => {
    await withBucket(radosgw.place(), async (bucket) => {
      const first = (await bucket.putText('a', '1', { ifAbsent: true })) ?? ''
      expect(await bucket.putText('a', '2', { ifAbsent: true })).toBeUndefined()
      const second = (await bucket.putText('a', '3', { ifVersion: first })) ?? ''
      expect(await bucket.putText('a', '4', { ifVersion: first })).toBeUndefined()
      expect(await bucket.readText('a')).toMatchObject({ text: '3', version: second })
      expect(await bucket.readText('b')).toBeUndefined()
    })
  })

  test('lists and removes what lies below its own prefix only', async () => {
    const place = radosgw.place()
    const beside = { ...place, prefix: `${place.prefix}0` }
    await withBucket(beside, (bucket) => bucket.putText('x', 'beside'))
    await withBucket(place, async (bucket) => {
      await bucket.putText('t/x', 'here')
      expect([...(await bucket.sizes(''))]).toEqual([['t/x', 4]])
      await bucket.remove(['t/x', 'x'])
      expect((await bucket.sizes('')).size).toBe(0)
    })
    expect(await withBucket(beside, (bucket) => bucket.readText('x'))).toMatchObject({ text: 'beside' })
  })

  test('has files of many parts as they were, and gives up what was begun', async () => {
    const [place, from, to] = [radosgw.place(), join(tempFolder(), 'a'), join(tempFolder(), 'b')]
    writeFileSync(from, Buffer.alloc(20_000_000, 'walletlake'))
    const s3 = await import('@aws-sdk/client-s3')
    const client = new s3.S3Client({ endpoint: radosgw.endpoint, region: 'us-east-1', forcePathStyle: true })
    const asked = { Bucket: place.bucket, Key: `${place.prefix}/ledger/begun` }
    await client.send(new s3.CreateMultipartUploadCommand(asked))
    const left = async () =>
      (await client.send(new s3.ListMultipartUploadsCommand({ Bucket: place.bucket }))).Uploads?.length ?? 0
    expect(await left()).toBe(1)
    await withBucket(place, async (bucket) => {
      await bucket.abortUploads((path) => path === 'ledger/begun')
      await bucket.putFile('a', from)
      const sha256 = await bucket.fetch('a', to)
      expect(sha256).toBe('505e42c30554c1a296ea3127a538d7a2caa43eb2da41ce510a0c1bc4f28b683c')
      expect(await bucket.fetch('none', to)).toBeUndefined()
    })
    expect(await left()).toBe(0)
    client.destroy()
  })

  test('has the bytes that a folder has, and every command reads them', async () => {
    const place = radosgw.place()
    const [file, cwd] = [jobFile(place), tempFolder()]
    expect(await command(['run', file, '--quiet'], cwd)).toMatchObject({ exit: 0 })
    expect(await publishedBytes(place)).toEqual(outputBytes(whole))
    const name = bucketUrl(place)
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
    const compacted = await publishedBytes(place)
    expect(Object.keys(compacted).filter((path) => path.startsWith('ledger/'))).toHaveLength(1)
    expect(await withBucket(place, (bucket) => bucket.sizes('report.html'))).toHaveProperty('size', 1)
    const again = await command(['run', file, '--fresh', '--quiet'], cwd)
    expect(again).toMatchObject({ exit: 0 })
    expect(await publishedBytes(place)).toEqual(outputBytes(whole))
  })

  test('goes on night after night, from whatever machine, and after a merge', async () => {
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
    await chain.end()

    async function moved(of: typeof job) {
      await runOnce(of)
      return { output: of.output }
    }
  })

  test('lets one of two runs at once publish, and the other says so', async () => {
    const place = radosgw.place()
    const runs = await Promise.all(
      [1, 2].map(() => command(['run', jobFile(place), '--quiet', '--state-dir', tempFolder()])),
    )
    expect(runs.map(({ exit }) => exit).sort()).toEqual([0, 8])
    const { stderr = '' } = runs.find(({ exit }) => exit === 8) ?? {}
    expect(stderr).toMatch(/OUTPUT_LOCKED: test: s3:\/\/lake\/.*: process \d+ on .* holds the output/)
    expect(await publishedBytes(place)).toEqual(outputBytes(whole))
  })

  test.skipIf(noRedis)('is all that machines share which do a run over a queue', async () => {
    const place = radosgw.place()
    const job = jobFile(place, { partitionBy: 'blocks:100', service: undefined })
    expect(await runOverQueue(job, radosgw.endpoint)).toEqual({ exit: 0, isKilled: true })
    const output = join(tempFolder(), 'alone')
    await exportDemo(output, { addresses, maxRowsPerFile: 1_000, partitionBy: 'blocks:100' })
    expect(await publishedBytes(place)).toEqual(outputBytes(output))
    const paths = await withBucket(place, async (bucket) => [...(await bucket.sizes('')).keys()])
    expect(paths.filter((path) => path.startsWith('.walletlake/'))).toEqual([])
  })

  test('keeps what another has published meanwhile', async () => {
    const place = radosgw.place()
    const store = await openStore({ output: tempFolder(), store: place })
    await withBucket(place, (bucket) => bucket.putText('manifest.json', 'of another'))
    await expect(store.putManifest('mine')).rejects.toMatchObject({ code: 'OUTPUT_LOCKED' })
    await store.close()
    expect(await withBucket(place, (bucket) => bucket.readText('manifest.json'))).toMatchObject({
      text: 'of another',
    })
  })

  test('has no half file in a manifest, however often runs are killed', { timeout: 600_000 }, async () => {
    const place = radosgw.place()
    const [file, cwd, random] = [jobFile(place), tempFolder(), createSeededRandom(7)]
    for (let kills = 0; kills < KILLS; kills += 1) {
      const env = { AWS_ENDPOINT_URL_S3: radosgw.endpoint }
      const running = startCommand(['run', file, '--quiet', ...(kills % 2 ? ['--fresh'] : [])], env, { cwd })
      const timer = setTimeout(() => running.kill('SIGKILL'), 500 + 3_000 * random.next())
      await running.ended
      clearTimeout(timer)
      const has = await withBucket(place, (bucket) => bucket.readText('manifest.json'))
      if (has !== undefined) expect(await command(['verify', bucketUrl(place)])).toMatchObject({ exit: 0 })
    }
    expect(await command(['run', file, '--quiet'], cwd)).toMatchObject({ exit: 0 })
    expect(await publishedBytes(place)).toEqual(outputBytes(whole))
    const names = [...(await withBucket(place, (bucket) => bucket.sizes(''))).keys()]
    const strangers = names.filter((path) => !TABLE_NAMES.some((table) => path.startsWith(`${table}/`)))
    expect(strangers.filter((path) => !path.startsWith('runs/'))).toEqual(['manifest.json'])
  })

  test.for([
    { what: 'without credentials', env: { AWS_ACCESS_KEY_ID: '' }, says: 'Set AWS_ACCESS_KEY_ID' },
    { what: 'with a wrong key', env: { AWS_SECRET_ACCESS_KEY: 'no' }, says: 'Grant these credentials' },
    { what: 'of a bucket that is none', names: 's3://nobody/a', says: 'Create the bucket' },
    {
      what: 'that nobody answers',
      env: { AWS_ENDPOINT_URL_S3: 'http://127.0.0.1:9' },
      says: 'Check the endpoint',
    },
  ])('$what is told with what to do', async ({ env = {}, names = 's3://lake/a', says }) => {
    const base = { AWS_ENDPOINT_URL_S3: radosgw.endpoint, AWS_EC2_METADATA_DISABLED: 'true' }
    const { exit, stderr } = await runCommand(['verify', names], { ...base, ...env })
    expect(exit).toBe(7)
    expect(stderr).toContain(`OUTPUT_FAILED: cannot read ${names}/manifest.json: `)
    expect(stderr).toContain(`fix: ${says}`)
  })
})
