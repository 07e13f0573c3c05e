import { ExportError } from '../core/model/errors.ts'
import { main, reportFailure } from './main.ts'

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

/**
 * Reports once, without a stack trace, that stdout cannot be written. EPIPE is ignored: a reader that closes the pipe early
 * (`walletlake plan … | head`) is not a failure. Errors of stderr are ignored, because they cannot be reported anywhere.
 */
function validateOutput(fail: (error: ExportError) => void): void {
  let isReported = false
  process.stderr.on('error', () => {})
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'EPIPE' || isReported) return
    isReported = true
    const { message } = error
    const fix = 'Check the free space where stdout goes, then run the same command again.'
    fail(new ExportError('OUTPUT_FAILED', `stdout cannot be written: ${message}`, { fix, cause: error }))
  })
}
