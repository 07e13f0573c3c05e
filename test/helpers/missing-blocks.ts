import { expect } from 'vitest'
import { run } from '../../src/run/run.ts'
import { createDataService } from '../../src/service/create-data-service.ts'
import { listen } from '../../src/service/listen.ts'
import { blocksJob } from './jobs.ts'

/** Exports blocks 380 to 420 of the demo chain from a service that has none after 400. */
export async function exportWithMissingBlocks(output: string): Promise<void> {
  const { url, close } = await listen(createDataService({ head: () => 400 }))
  const service = { baseUrl: url, apiKeyHeader: 'x-service-api-key', timeoutMs: 30_000 }
  const { jobs } = await run([blocksJob({ startBlock: 380, endBlock: 421, output, service })])
  expect(jobs[0]?.figures.missing).toEqual([{ from: 401, to: 421 }])
  await close()
}
