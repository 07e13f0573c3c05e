import { createHash } from 'node:crypto'
import { ExportError } from '../core/errors.ts'
import type { BlockRange, Job } from '../core/model.ts'
import { GENERATOR } from '../core/version.ts'

/** What all units of a run have in common; it lies beside the pages, so that a worker needs nothing else. */
export type Plan = {
  /** Names the run in the queue: the job's name and a hash of all that decides its bytes. */
  id: string
  job: Job
  /** The blocks of the run; the end is pinned. */
  range: BlockRange
  /** Blocks of a partition, counted from block 0. */
  partitionBlocks: number
}

/** Plans the run of a job. Throws USAGE where a queue run does not take the job, with what to change. */
export function planRun(job: Job): Plan {
  const { file, kind, endBlock, partitionBy, startBlock, keepRaw, service } = job
  const refuse = (what: string, fix: string) => {
    throw new ExportError('USAGE', `${file}: a run over a queue does not take ${what} yet`, { fix })
  }
  if (kind !== 'wallets') refuse('jobs of whole blocks', 'Run it without --queue.')
  if (endBlock === undefined)
    return refuse('jobs without endBlock', 'Set endBlock, or run it without --queue.')
  if (partitionBy === undefined || !partitionBy.startsWith('blocks:'))
    return refuse(
      `${partitionBy === undefined ? 'jobs without partitionBy' : `partitionBy ${partitionBy}`}`,
      'Set partitionBy: blocks:<n> (or --partition-by), with some ten to a hundred partitions in all.',
    )
  if (keepRaw) refuse('keepRaw', 'Set keepRaw: false, or run it without --queue.')
  if (service.baseUrl === 'demo')
    refuse('the embedded service', 'Start walletlake serve, and name its address by --base-url.')
  const range = { from: startBlock, to: endBlock }
  return { id: nameRun(job), job, range, partitionBlocks: Number(partitionBy.slice('blocks:'.length)) }
}

/** The job's name and a hash of it, without what may differ between machines. */
function nameRun(job: Job): string {
  const { file: _file, output: _output, concurrency: _concurrency, service, ...deciding } = job
  const key = JSON.stringify([GENERATOR, deciding, service.baseUrl])
  return `${job.name}-${createHash('sha256').update(key).digest('hex').slice(0, 12)}`
}
