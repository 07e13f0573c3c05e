import type { ReportDiagnostic } from '../diagnostics.ts'
import type { RawValue } from './raw-value.ts'

/** What settling needs beside the values. */
export type Resolving = {
  readonly file: string
  /** The job as a whole, for complaints of what is missing. */
  readonly root: RawValue
  readonly report: ReportDiagnostic
}

/** Complains of a field that must be there and is not; gives an empty text in its place. */
export function reportMissing(field: string, expected: string, { root, report }: Resolving): string {
  report({ location: root.location, field, found: 'nothing', expected })
  return ''
}
