import { relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Command } from 'commander'
import { PACKAGE } from '../../core/model/version.ts'
import type { SetExitCode } from '../exit-code.ts'
import { hideOptions, type Overrides, overrideOptions, readJobs } from '../options/jobs.ts'
import { logOptions } from '../options/log.ts'
import { type RunArguments, runJobs } from '../run-jobs.ts'

export function demoCommand(program: Command, setExitCode: SetExitCode): void {
  const command = program
    .command('demo')
    .summary('Export twelve demo wallets; needs no account')
    .description('Export twelve demo wallets to output/demo; needs no account and no network')
  hideOptions(overrideOptions(command))
    .option('--fresh', 'Discard the existing export and start over')
    .option('--json', 'Print a JSON summary on stdout at the end')
    .action(async (args: RunArguments & Overrides) =>
      setExitCode(await runJobs(() => readJobs([demoJobFile()], args), { ...args, report: true })),
    )
  logOptions(command)
}

/** The package has it, wherever it is installed. */
function demoJobFile(): string {
  return relative('', fileURLToPath(new URL('jobs/demo.yaml', PACKAGE)))
}
