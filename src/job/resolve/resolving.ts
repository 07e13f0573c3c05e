import type { Complain } from '../diagnostics.ts'
import type { Given } from './raw-value.ts'

/** What settling needs beside the values. */
export type Settling = {
  readonly file: string
  /** The job as a whole, for complaints of what is missing. */
  readonly root: Given
  readonly complain: Complain
}

/** Complains of a field that must be there and is not; gives an empty text in its place. */
export function missing(field: string, expected: string, { root, complain }: Settling): string {
  complain({ place: root.place, field, found: 'nothing', expected })
  return ''
}
