import { main, reportFailure } from './main.ts'
import { guardOutput } from './options/validate-output.ts'

/** Runs the command line of this process. */
export async function start(): Promise<void> {
  const argv = process.argv.slice(2)
  guardOutput((error) => {
    process.exitCode = reportFailure(error, argv)
  })
  const exit = await main(argv)
  // What failed while stdout was written stands.
  process.exitCode ??= exit
}
