import { relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { PACKAGE } from '../../core/model/version.ts'
import { defineCommand, hideOptions, option } from '../command.ts'
import { overrideOptions, readJobs } from '../options/jobs.ts'
import { logOptions } from '../options/log.ts'
import { runJobs } from '../run-jobs.ts'

export const command = defineCommand({
  name: 'demo',
  summary: 'Export twelve demo wallets; needs no account',
  description: 'Export twelve demo wallets to output/demo; needs no account and no network',
  arguments: [],
  options: [
    ...hideOptions(overrideOptions),
    option('fresh', 'Discard the existing export and start over'),
    option('json', 'Print a JSON summary on stdout at the end'),
    ...logOptions,
  ],
  run: (args) =>
    runJobs(() => readJobs([demoJobFile()], args), { ...args, report: true, reconcile: { scope: 'coin' } }),
})

/** The job file is part of the package. */
function demoJobFile(): string {
  return relative('', fileURLToPath(new URL('jobs/demo.yaml', PACKAGE)))
}
