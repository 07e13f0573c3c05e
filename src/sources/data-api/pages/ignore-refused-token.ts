import { ExportError } from '../../../core/model/errors.ts'
import { isPageTooLarge } from './adaptive-page-size.ts'

/** Gives undefined where a page token was refused: the service does not know it any more. Throws anything else again. */
export function ignoreRefusedToken(token: string | undefined): (thrown: unknown) => undefined {
  return (thrown) => {
    const isRefused = thrown instanceof ExportError && thrown.code === 'REQUEST_REFUSED'
    if (!isRefused || token === undefined || isPageTooLarge(thrown)) throw thrown
  }
}
