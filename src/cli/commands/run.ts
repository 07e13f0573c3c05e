import type { Command } from 'commander'
import { LOOKBACK_BLOCKS } from '../../core/model/limits.ts'
import { addExamples } from '../examples.ts'
import type { SetExitCode } from '../exit-code.ts'
import { monitoringOptions } from '../monitoring/run-monitor.ts'
import { keyOption } from '../options/credentials.ts'
import { type InlineJobArguments, inlineJobOptions, readJobsOrInlineJob } from '../options/inline-job.ts'
import { JOB_FILES, type Overrides, overrideOptions } from '../options/jobs.ts'
import { logOptions } from '../options/log.ts'
import { runLimitOptions } from '../options/option-parsers.ts'
import { type RunArguments, runJobs } from '../run-jobs.ts'

type Arguments = RunArguments & Overrides & InlineJobArguments

export function runCommand(program: Command, setExitCode: SetExitCode): void {
  const command = program
    .command('run')
    .summary('Export the wallets or blocks of jobs')
    .description('Export the wallets or blocks of job files, or the wallets given as options')
    .argument('[jobs...]', JOB_FILES)
  inlineJobOptions(command)
    .option('--fresh', 'Discard checkpoints and start over')
    .option(
      '--lookback <blocks>',
      `Read and rewrite the last blocks of the previous run (default: read ${LOOKBACK_BLOCKS}, rewrite if they changed)`,
    )
    .option('--queue <url>', 'Let workers do the work (`walletlake worker`), over redis://host:6379')
    .option('--report', 'Also write an HTML report for each export')
  keyOption(runLimitOptions(overrideOptions(command)))
  logOptions(monitoringOptions(command).option('--json', 'Print a JSON summary on stdout at the end'))
  addExamples(
    command,
    ['run jobs/mine.yaml', 'Export the wallets of a job file'],
    ["run 'jobs/*.yaml' --max-requests 5000", 'Run all jobs with one limit on requests'],
    ['run --chain 43114 --address 0x… --base-url https://…', 'One wallet, without a job file'],
  )
  command.action(async (files: string[], args: Arguments) =>
    setExitCode(await runJobs(() => readJobsOrInlineJob(files, args), args)),
  )
}
