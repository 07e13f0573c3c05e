import type { ReportDiagnostic } from '../diagnostics.ts'
import type { RawValue } from './raw-value.ts'

/** Context for resolving a job from its values. */
export type Resolving = {
  readonly file: string
  /** The whole job, as the location of diagnostics about missing fields. */
  readonly root: RawValue
  readonly report: ReportDiagnostic
}

/** Reports a required field that is missing. Returns an empty string as its value. */
export function reportMissing(field: string, expected: string, { root, report }: Resolving): string {
  report({ location: root.location, field, found: 'nothing', expected })
  return ''
}
