import { dirname } from 'node:path'
import { ExportError } from '../core/model/errors.ts'
import { scratchFault } from '../core/platform/scratch-folder.ts'
import { NOT_WHOLE } from './amount-sql.ts'
import { NOT_EXACT, ORDER_KEY } from './exact-amounts.ts'
import { DECIMAL_DIGITS } from './exact-numbers.ts'
import { unreadable } from './open-export.ts'
import type { DecimalTypes } from './views.ts'

/** `path` is how the engine reaches the folder; `types` are known once the views are made. */
export type Refusing = { folder: string; path: string; types?: DecimalTypes }

/** What the engine refuses is the statement's fault, unless a file is. */
export function refusedQuery(thrown: unknown, { folder, path, types }: Refusing): never {
  const known = thrown instanceof ExportError ? thrown : scratchFault(thrown, dirname(path))
  if (known !== undefined) throw known
  const { message } = thrown as Error
  const what = message
    .replace(/^Failed to extract statements: /, '')
    .replaceAll(`${path}/`, '')
    .trim()
  const usage = (text: string, fix: string) => new ExportError('USAGE', inLines(text), { cause: thrown, fix })
  const notWhole = what.indexOf(NOT_WHOLE)
  if (notWhole >= 0) throw usage(what.slice(notWhole), UNITS_FIX)
  if (what.includes(ORDER_KEY)) throw usage(orderedFault(types), ORDERED_FIX)
  const notExact = what.indexOf(NOT_EXACT)
  if (notExact >= 0) throw usage(what.slice(notExact), OVERFLOW_FIX)
  if (/^Out of Range Error: Overflow in|^Conversion Error: .*\bDECIMAL\(/.test(what))
    throw usage(what, OVERFLOW_FIX)
  if (/^.*\bBIGNUM\b/.test(what)) throw usage(what, BIGNUM_FIX)
  const line = /^[\w ]+ Error: CSV Error on Line: (\d+)$/m.exec(what)?.[1]
  if (line !== undefined)
    throw unreadable(`${CSV_FILE.exec(what)?.[1] ?? folder}:${line}`, csvFault(what), thrown)
  if (/^(IO|Invalid Input|Invalid) Error: /.test(what)) throw unreadable(folder, what, thrown)
  throw usage(what, FIX)
}

/** What is wrong, which may quote a cell of the export, and below it the place in the statement. */
function inLines(text: string): string[] {
  const place = text.search(PLACE)
  const [what, where] = place < 0 ? [text, ''] : [text.slice(0, place), text.slice(place)]
  return [what.trim(), ...where.split('\n').filter((line) => line !== '')]
}

const PLACE = /\n+LINE \d+: .*\n *\^\s*$/

/** How the engine names the file of a row that is none, below much that is about options which nobody has. */
const CSV_FILE = /^ *file = (.+)$/m

/** What is wrong with the row: the line below the row itself. */
function csvFault(what: string): string {
  return /^Error when .*|^(Expected|Value|Found|Maximum) .*/m.exec(what)?.[0] ?? 'it is no row of the table'
}

/** The columns that have more digits than the engine computes with. */
function orderedFault(types: DecimalTypes | undefined): string {
  const columns = Object.entries(types ?? {}).flatMap(([name, type]) =>
    type.kind === 'ordered'
      ? [`${name} has up to ${type.whole} digits before the point and ${type.fraction} after it`]
      : [],
  )
  return `${columns.join(', ')}: more than the ${DECIMAL_DIGITS} of an exact number in DuckDB. Such values can be sorted and compared with each other, but not computed with`
}

const FIX =
  'Correct the statement (SQL of DuckDB). SHOW TABLES lists the tables, DESCRIBE ledger its columns.'

const UNITS_FIX = 'Round and cast the value first, as in units(round(avg(value))::BIGNUM, 18).'

const ORDERED_FIX =
  'Sum the value of one asset, as in units(sum(value), 18); compare with units, as in amount > units(5, 0) for 5 or units(25, 1) for 2.5; for text and casts write units_text(value, 18).'

const OVERFLOW_FIX =
  'Compute in the smallest unit, which has no limit, as in sum(value); units_text(sum(value), 18) gives plain digits of any length as text.'

const BIGNUM_FIX =
  'Compare a BIGNUM (value, gas_price, transaction_fee, token_id) with whole numbers; for decimals write units(value, 18) > 1.5.'
