import type { Command } from 'commander'
import { boundOptions } from './amounts.ts'
import { keyOption } from './credentials.ts'
import { addExamples } from './examples.ts'
import { type FilelessArguments, filelessOptions, readJobsOrOptions } from './fileless.ts'
import type { Finish } from './finish.ts'
import { JOB_FILES, type Overrides, overrideOptions } from './jobs.ts'
import { logOptions } from './log.ts'
import { notifyOptions } from './notifier.ts'
import { type RunArguments, runJobs } from './run-jobs.ts'

type Arguments = RunArguments & Overrides & FilelessArguments

export function runCommand(program: Command, finish: Finish): void {
  const command = program
    .command('run')
    .summary('export the wallets or blocks of jobs')
    .description('export the wallets or blocks of job files, or the wallets that are named')
    .argument('[jobs...]', JOB_FILES)
  filelessOptions(command)
    .option('--fresh', 'forget checkpoints and start over')
    .option('--reread <n>', 'write the last N blocks again (default: read 32 again, write what changed)')
    .option('--queue <url>', 'have workers do it, over redis://host:6379 (`walletlake worker`)')
    .option('--report', 'write a page for people beside each export')
  keyOption(boundOptions(overrideOptions(command)))
  logOptions(notifyOptions(command).option('--json', 'one JSON summary on stdout at the end'))
  addExamples(
    command,
    ['run jobs/mine.yaml', 'export the wallets of a job file'],
    ["run 'jobs/*.yaml' --max-requests 5000", 'all jobs within a quota'],
    ['run --chain 43114 --address 0x… --base-url https://…', 'one wallet, without a job file'],
  )
  command.action(async (files: string[], args: Arguments) =>
    finish(await runJobs(() => readJobsOrOptions(files, args), args)),
  )
}
