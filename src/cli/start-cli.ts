import { main, reportFailure } from './main.ts'
import { validateOutput } from './options/validate-output.ts'

/** Runs the command line of this process and sets its exit code. */
export async function startCli(): Promise<void> {
  const argv = process.argv.slice(2)
  validateOutput((error) => {
    process.exitCode = reportFailure(error, argv)
  })
  const exit = await main(argv)
  // Does not overwrite the exit code of an error of stdout.
  process.exitCode ??= exit
}
