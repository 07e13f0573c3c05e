import { expect } from 'vitest'
import { createDataService } from '../../src/demo-server/create-data-service.ts'
import { listen } from '../../src/demo-server/listen.ts'
import { run } from '../../src/export/run.ts'
import { blocksJob } from '../helpers/jobs.ts'

/** Exports blocks 380 to 420 of the demo chain from a server that has no blocks after 400. */
export async function exportWithMissingBlocks(output: string): Promise<void> {
  const { url, close } = await listen(createDataService({ head: () => 400 }))
  const { jobs } = await run([
    blocksJob({ startBlock: 380, endBlock: 421, output, service: { baseUrl: url } }),
  ])
  expect(jobs[0]?.stats.missing).toEqual([{ from: 401, to: 421 }])
  await close()
}
