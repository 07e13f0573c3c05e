import { defineCommand, option } from '../command.ts'
import { monitoringOptions } from '../monitoring/run-monitor.ts'
import { keyOptions } from '../options/credentials.ts'
import {
  inlineJobOptions,
  JOB_GROUPS,
  jobsArgument,
  overrideOptions,
  readJobsOrInlineJob,
} from '../options/jobs.ts'
import { logOptions } from '../options/log.ts'
import { lookbackOption, runLimitOptions } from '../options/parsers.ts'
import { acceptOption } from '../reconcile-jobs.ts'
import { runJobs } from '../run-jobs.ts'
import { usageError } from '../usage-error.ts'

export const command = defineCommand({
  name: 'run',
  summary: 'Export the wallets or blocks of jobs',
  description: 'Export the wallets or blocks of job files, or the wallets given as options',
  arguments: [jobsArgument],
  options: [
    ...inlineJobOptions,
    option('fresh', 'Discard the existing export and start over'),
    lookbackOption,
    option('queue <url>', 'Let workers do the work (`walletlake worker`), over redis://host:6379'),
    option(
      'load',
      'Then load each export that ends with 0 or 6 into the database that WALLETLAKE_LOAD_TO names; exit code, ping and metrics include the load',
    ),
    option('report', 'Also write an HTML report for each export'),
    option(
      'reconcile changed',
      'Then compare each export with the balances that the service reports (exit code 10 on a difference), or only wallets that changed since they agreed',
      { optionalValue: true, choices: ['changed'] },
    ),
    acceptOption,
    ...overrideOptions,
    ...runLimitOptions,
    ...keyOptions,
    ...monitoringOptions,
    option('json', 'Print a JSON summary on stdout at the end'),
    ...logOptions,
  ],
  groups: {
    ...JOB_GROUPS,
    Service: [...JOB_GROUPS.Service, 'queue'],
    'After the run': ['load', 'report', 'reconcile', 'accept'],
    Monitoring: ['metrics-file', 'otlp-endpoint', 'ping', 'json', 'log-format', 'quiet', 'verbose'],
  },
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
      reconcile: reconcile && { onlyChanged: reconcile === 'changed', accept },
    })
  },
})
