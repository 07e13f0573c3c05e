import { expect, it, vi } from 'vitest'
import { ExportError } from '../../src/core/model/errors.ts'
import { MANIFEST_FILE } from '../../src/core/model/manifest.ts'
import type { BucketLocation, Job } from '../../src/core/model/model.ts'
import { openBucket } from '../../src/storage/bucket.ts'
import { fetchExport } from '../../src/storage/fetch-export.ts'
import { fetchToFolder } from '../helpers/growing-chain.ts'
import { tempFolder } from '../helpers/temp-folder.ts'
import type { Radosgw } from '../storage/start-radosgw.ts'
import { testInObjectStore } from './in-object-store.ts'

/** Tests that export to folders. Here, each folder is replaced by a location in an object store. */
const FILES = {
  'e2e/demo-balances': () => import('../e2e/demo-balances.test.ts'),
  'e2e/formats': () => import('../e2e/formats.test.ts'),
  'e2e/mainnet': () => import('../e2e/mainnet.test.ts'),
  'e2e/same-bytes': () => import('../e2e/same-bytes.test.ts'),
  'e2e/requests': () => import('../e2e/requests.test.ts'),
  'e2e/equal-timestamps': () => import('../e2e/equal-timestamps.test.ts'),
  'e2e/deep-json': () => import('../e2e/deep-json.test.ts'),
  'e2e/quota': () => import('../e2e/quota.test.ts'),
  'e2e/refused-requests': () => import('../e2e/refused-requests.test.ts'),
  'e2e/bad-pages': () => import('../e2e/bad-pages.test.ts'),
  'e2e/bad-tokens': () => import('../e2e/bad-tokens.test.ts'),
  'e2e/bad-items': () => import('../e2e/bad-items.test.ts'),
  'e2e/blocks': () => import('../e2e/blocks.test.ts'),
  'e2e/blocks-resumed': () => import('../e2e/blocks-resumed.test.ts'),
  'e2e/blocks-rows': () => import('../e2e/blocks-rows.test.ts'),
  'e2e/bad-blocks': () => import('../e2e/bad-blocks.test.ts'),
  'e2e/missing-blocks': () => import('../e2e/missing-blocks.test.ts'),
}

let radosgw: Radosgw
/** Maps output folders to the locations that replace them. */
const bucketLocations = new Map<string, BucketLocation>()

vi.mock('../../src/export/run.ts', async (load) => {
  const module = await load<typeof import('../../src/export/run.ts')>()
  const run: typeof module.run = async (jobs, options) => {
    const placed = jobs.map(withBucket)
    const result = await module.run(placed, options)
    for (const job of placed) await fetchToFolder(job).catch(ignoreNothingPublished)
    return result
  }
  return { ...module, run }
})

vi.mock('../../src/verify/export/verify-output.ts', async (load) => {
  const module = await load<typeof import('../../src/verify/export/verify-output.ts')>()
  const verifyOutput: typeof module.verifyOutput = async (output, options) => {
    const location = bucketLocations.get(output)
    const folder = location === undefined ? output : tempFolder()
    if (location !== undefined) await fetchExport(location, folder)
    return module.verifyOutput(folder, options)
  }
  return { ...module, verifyOutput }
})

testInObjectStore(FILES, (started) => {
  radosgw = started
})

it('published the exports to the object store', async () => {
  const published = await Promise.all([...bucketLocations.values()].map(isPublished))
  expect(published.filter(Boolean).length).toBeGreaterThan(Object.keys(FILES).length)
})

async function isPublished(location: BucketLocation): Promise<boolean> {
  const bucket = await openBucket(location)
  const manifest = await bucket.readText(MANIFEST_FILE)
  bucket.close()
  return manifest !== undefined
}

/**
 * Replaces a job's output by a bucket location. Jobs with `keepRaw` keep their folder, because buckets do not support
 * it.
 */
function withBucket(job: Job): Job {
  if (job.keepRaw) return job
  const store = bucketLocations.get(job.output) ?? radosgw.newLocation()
  bucketLocations.set(job.output, store)
  return { ...job, store }
}

/** Ignores USAGE errors: a run that published nothing leaves no export to read. */
function ignoreNothingPublished(thrown: unknown): void {
  if (!(thrown instanceof ExportError) || thrown.code !== 'USAGE') throw thrown
}
