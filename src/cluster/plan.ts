import { createHash } from 'node:crypto'
import { ExportError } from '../core/errors.ts'
import type { BlockRange, Job, PartitionBy } from '../core/model.ts'
import { GENERATOR } from '../core/version.ts'

/** What all units of a run have in common; it lies beside the pages, so that a worker needs nothing else. */
export type Plan = {
  /** Names the run in the queue: the job's name and a hash of all that decides its bytes. */
  id: string
  job: Job
  /** The blocks of the run; the end is pinned. */
  range: BlockRange
  /** How its files are parted; a partition is the least that can be written by itself. */
  partitionBy: PartitionBy
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
  if (partitionBy === undefined)
    return refuse(
      'jobs without partitionBy',
      'Set partitionBy (or --partition-by): day, month or blocks:<n>, with some ten to a hundred partitions.',
    )
  if (keepRaw) refuse('keepRaw', 'Set keepRaw: false, or run it without --queue.')
  if (service.baseUrl === 'demo')
    refuse('the embedded service', 'Start walletlake serve, and name its address by --base-url.')
  const range = { from: startBlock, to: endBlock }
  return { id: nameRun(job), job, range, partitionBy }
}

/** The job's name and a hash of it, without what may differ between machines. */
function nameRun(job: Job): string {
  const { baseUrl, ...deciding } = decidingIn(job)
  const key = JSON.stringify([GENERATOR, deciding, baseUrl])
  return `${job.name}-${createHash('sha256').update(key).digest('hex').slice(0, 12)}`
}

/** What of a job decides the bytes of its export. */
function decidingIn({ file: _file, output: _output, concurrency: _concurrency, service, ...deciding }: Job) {
  return { ...deciding, baseUrl: service.baseUrl }
}

/** What of two plans differs, by the names of the job's settings; none where another version made one of them. */
export function differingSettings(one: Plan, other: Plan): string[] {
  const [before, after] = [decidingIn(one.job), decidingIn(other.job)] as Record<string, unknown>[]
  const names = new Set([...Object.keys(before ?? {}), ...Object.keys(after ?? {})])
  return [...names].filter((name) => JSON.stringify(before?.[name]) !== JSON.stringify(after?.[name]))
}
