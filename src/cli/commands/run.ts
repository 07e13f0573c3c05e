import { defineCommand } from '../command.ts'
import { monitoringOptions } from '../monitoring/run-monitor.ts'
import { keyOptions } from '../options/credentials.ts'
import { inlineJobOptions, readJobsOrInlineJob } from '../options/inline-job.ts'
import { JOB_FILES, overrideOptions } from '../options/jobs.ts'
import { logOptions } from '../options/log.ts'
import { LOOKBACK_TEXT, runLimitOptions } from '../options/option-parsers.ts'
import { acceptOptions } from '../reconcile-output.ts'
import { runJobs } from '../run-jobs.ts'
import { usageError } from '../usage-error.ts'

export const command = defineCommand({
  name: 'run',
  summary: 'Export the wallets or blocks of jobs',
  description: 'Export the wallets or blocks of job files, or the wallets given as options',
  arguments: [{ name: 'jobs', repeatable: true, description: JOB_FILES }],
  options: [
    ...inlineJobOptions,
    { name: 'fresh', description: 'Discard the existing export and start over' },
    {
      name: 'lookback',
      value: '<blocks|duration>',
      description: LOOKBACK_TEXT,
    },
    {
      name: 'queue',
      value: '<url>',
      description: 'Let workers do the work (`walletlake worker`), over redis://host:6379',
    },
    {
      name: 'load',
      description:
        'Then load each export that ends with 0 or 6 into the database that WALLETLAKE_LOAD_TO names; exit code, ping and metrics include the load',
    },
    { name: 'report', description: 'Also write an HTML report for each export' },
    {
      name: 'reconcile',
      value: 'changed',
      optionalValue: true,
      choices: ['changed'],
      description:
        'Then compare each export with the balances that the service states (exit code 10 on a difference), or only wallets that changed since they agreed',
    },
    ...acceptOptions,
    ...overrideOptions,
    ...runLimitOptions,
    ...keyOptions,
    ...monitoringOptions,
    { name: 'json', description: 'Print a JSON summary on stdout at the end' },
    ...logOptions,
  ],
  examples: [
    ['run jobs/mine.yaml', 'Export the wallets of a job file'],
    ["run 'jobs/*.yaml' --max-requests 5000", 'Run all jobs with one limit on requests'],
    ['run --chain 43114 --address 0x… --base-url https://…', 'One wallet, without a job file'],
  ],
  run: ({ jobs, reconcile, accept, ...args }) => {
    if (accept !== undefined && reconcile === undefined)
      throw usageError("option '--accept <file>' needs option '--reconcile'")
    return runJobs(() => readJobsOrInlineJob(jobs, args, { needsService: true }), {
      ...args,
      reconcile: reconcile && { scope: 'all', onlyChanged: reconcile === 'changed', accept },
    })
  },
})
