import { ExportError } from '../core/errors.ts'
import { type Given, type Place, showGiven, showPlace } from './given.ts'

/** One thing wrong with a job: all of them are gathered, then thrown together. */
export type Complaint = {
  readonly place: Place
  /** Path of the field; undefined where the file as a whole is meant. */
  readonly field?: string | undefined
  /** The value as JSON or a description of it; never a secret. */
  readonly found: string
  readonly expected: string
  readonly didYouMean?: string | undefined
  /** So many further ones follow in the same file, only counted. */
  readonly more?: number
}

export type Complain = (complaint: Complaint) => void

export type Complaints = {
  readonly complain: Complain
  /** Throws JOB_INVALID with every complaint so far, one a line, where there is one. */
  readonly throwIfAny: () => void
}

export function openComplaints(): Complaints {
  const complaints: Complaint[] = []
  return {
    complain: (complaint) => complaints.push(complaint),
    throwIfAny: () => {
      if (complaints.length > 0) throw new ExportError('JOB_INVALID', listComplaints(complaints))
    },
  }
}

/** The usual complaint: this value is not what was expected. */
export function against(given: Given, expected: string, didYouMean?: string): Complaint {
  return { place: given.place, field: given.field, found: showGiven(given), expected, didYouMean }
}

const SHOWN_COMPLAINTS = 1_000

function listComplaints(complaints: Complaint[]): string {
  const shown = complaints.toSorted(inOrderOfPlaces).slice(0, SHOWN_COMPLAINTS).map(showComplaint)
  const more = complaints.length - shown.length
  return more > 0 ? [...shown, `and ${more} more`].join('\n') : shown.join('\n')
}

/** Options first; within a file from its top; files in the order in which they were read. */
function inOrderOfPlaces({ place: a }: Complaint, { place: b }: Complaint): number {
  if ('option' in a || 'option' in b) return Number('option' in b) - Number('option' in a)
  return a.file === b.file ? a.line - b.line || a.column - b.column : 0
}

/** Where a number or a boolean was given as text, the quotes were what was wrong. */
function showMeant(meant: string, found: string): string {
  return found.startsWith('"') && /^(\d+|true|false)$/.test(meant) ? meant : JSON.stringify(meant)
}

function showComplaint({ place, field, found, expected, didYouMean, more = 0 }: Complaint): string {
  const about = field === undefined || 'option' in place ? showPlace(place) : `${showPlace(place)}: ${field}`
  const hint = didYouMean === undefined ? '' : ` (did you mean ${showMeant(didYouMean, found)}?)`
  return `${about}: found ${found}, expected ${expected}${hint}${more > 0 ? `\nand ${more} more` : ''}`
}
