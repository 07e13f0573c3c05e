import { ExportError } from '../../core/model/errors.ts'

/**
 * Says once that stdout cannot be written, instead of a stack. A reader that has seen enough (`walletlake plan … | head`)
 * is no failure, and what stderr does not take is lost: there is nowhere to say it.
 */
export function validateOutput(fail: (error: ExportError) => void): void {
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
