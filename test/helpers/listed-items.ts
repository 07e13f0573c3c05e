import type { Job } from '../../src/core/model/model.ts'
import { type RunOptions, run } from '../../src/export/run.ts'
import { verifyOutput } from '../../src/verify/export/verify-output.ts'
import { testJob } from './jobs.ts'
import { type ListedItem, listingPage } from './listing-page.ts'
import { readManifest } from './read-output.ts'
import { serve } from './serve.ts'
import { tempFolder } from './temp-folder.ts'

/**
 * Starts a loopback server that lists exactly these items, even malformed ones. `items` can be replaced at any time.
 */
export async function startListing(items: readonly ListedItem[]) {
  const listing = { items }
  const url = await serve((request, response) => {
    response.setHeader('content-type', 'application/json')
    response.end(JSON.stringify(listingPage(listing.items, new URL(request.url ?? '/', 'http://loopback'))))
  })
  return Object.assign(listing, { url })
}

type ListedJobOptions = Partial<Omit<Job, 'wallets'>> & { addresses: readonly string[] }

/** A job against such a server, by default for all blocks. */
export function listedJob(url: string, options: ListedJobOptions): Job {
  const service = { baseUrl: url }
  return testJob({ endBlock: undefined, output: tempFolder(), nativeSymbol: 'AVAX', service, ...options })
}

/** Runs a job and returns the results of the run and of `verify`, with the manifest. */
export async function exportListed(job: Job, options: RunOptions = {}) {
  const { code, jobs } = await run([job], { retry: { firstDelayMs: 1, maxDelayMs: 2 }, ...options })
  const verdict = await verifyOutput(job.output)
  return {
    code,
    stats: jobs[0]?.stats,
    error: jobs[0]?.error,
    verdict,
    manifest: readManifest(job.output),
  }
}
