import { ExportError } from '../../../core/model/errors.ts'
import { isPageTooLarge } from '../../adaptive-page-size.ts'

/** Returns undefined if a page token was refused: the service no longer knows it. Rethrows any other error. */
export function ignoreRefusedToken(token: string | undefined): (thrown: unknown) => undefined {
  return (thrown) => {
    const isRefused = thrown instanceof ExportError && thrown.code === 'REQUEST_REFUSED'
    if (!isRefused || token === undefined || isPageTooLarge(thrown)) throw thrown
  }
}
