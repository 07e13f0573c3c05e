import type { Command } from 'commander'
import { countBlocks } from '../core/block-ranges.ts'
import type { Job } from '../core/model.ts'
import { say } from '../report/say.ts'
import { counted, grouped, missingWords } from '../report/words.ts'
import { inspectJob, type JobState } from '../run/inspect-job.ts'
import { hideOptions, jobOptions, type Overrides, readJobs } from './jobs.ts'

export function statusCommand(program: Command): void {
  const command = program.command('status').description('say what is done and what is left')
  hideOptions(jobOptions(command)).action(status)
}

async function status(jobs: string[], args: Overrides): Promise<void> {
  for (const job of await readJobs(jobs, args)) {
    const inspected = await inspectJob(job)
    const { state, manifest } = inspected
    say(`${job.name}: ${state} (${job.output})`)
    if (state === 'unfinished') say(`  ${progressOf(job, inspected)}`)
    for (const [table, { rows, files }] of Object.entries(manifest?.tables ?? {})) {
      say(`  ${grouped(rows).padStart(12)}  ${table} (${counted(files.length, 'file')})`)
    }
    const missing = (manifest?.blocks?.missing ?? []).map(({ fromBlock, toBlock }) => ({
      from: fromBlock,
      to: toBlock,
    }))
    if (missing.length > 0) say(`  ${missingWords(missing)}`)
  }
}

function progressOf({ kind }: Job, { pages, items, wallets, blocks }: JobState): string {
  const kept = `${counted(pages, kind === 'blocks' ? 'block' : 'page')} with ${counted(items, 'transaction')} kept`
  if (kind === 'blocks') return `${kept}; ${counted(countBlocks(blocks), 'block')} left to ask`
  const left = wallets.filter(({ remaining }) => remaining.length > 0).length
  return `${kept}; ${left} of ${counted(wallets.length, 'wallet')} left to ask`
}
