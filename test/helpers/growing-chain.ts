import { expect } from 'vitest'
import type { Job } from '../../src/model.ts'
import { type RunOptions, run } from '../../src/run.ts'
import { createDataService } from '../../src/service/create-data-service.ts'
import { TABLE_NAMES } from '../../src/table/index.ts'
import { verifyOutput } from '../../src/verify/verify-output.ts'
import { testJob } from './jobs.ts'
import { startLoopback } from './loopback.ts'
import { readCsvTable, readManifest } from './read-output.ts'
import { tempFolder } from './temp-folder.ts'
import { truthWallets } from './truth.ts'

/** A service whose chain begins with so many blocks and grows as it is told. */
export async function growingChain(from: number) {
  const service = createDataService({ replay: { from } })
  const { url, asked } = await startLoopback(service)
  return { url, asked, advance: (blocks: number) => service.advance(blocks), end: () => service.close() }
}

/** A job without an end over the first wallets of the demo chain. */
export function headJob(url: string, given: Partial<Job> & { wallets?: never; count?: number } = {}): Job {
  const { count = 6, ...fields } = given
  const service = { baseUrl: url, apiKeyHeader: 'x-service-api-key', timeoutMs: 30_000 }
  const addresses = truthWallets.slice(0, count)
  return testJob({ addresses, endBlock: undefined, output: tempFolder(), service, ...fields })
}

/** Runs the job; a failure of it is thrown. */
export async function runOnce(job: Job, options: RunOptions = {}) {
  const result = await run([job], options)
  const error = result.jobs[0]?.error
  if (error !== undefined) throw error
  return result.jobs[0]
}

/** Every table's rows of a CSV output, in file order. */
export async function rowsIn(output: string) {
  const rows: Record<string, unknown> = {}
  for (const table of TABLE_NAMES) rows[table] = await readCsvTable(output, table)
  return rows
}

/** The output has the rows and the coverage of a first run now, and is found good. */
export async function expectSameAsFresh(job: Job): Promise<void> {
  const fresh = { ...job, output: tempFolder() }
  await runOnce(fresh)
  expect(await rowsIn(job.output)).toEqual(await rowsIn(fresh.output))
  expect(readManifest(job.output).coverage).toEqual(readManifest(fresh.output).coverage)
  expect((await verifyOutput(job.output)).problems).toEqual([])
}
