import { dirname } from 'node:path'
import { ExportError } from '../core/model/errors.ts'
import { toScratchError } from '../core/platform/scratch-folder.ts'
import { NOT_AN_INTEGER } from './amount-sql.ts'
import { unreadableFileError } from './dataset.ts'
import { CSV_ERROR, oneLine, readingProblem } from './engine-message.ts'
import { NOT_EXACT, ORDER_KEY } from './exact-amounts.ts'
import { DECIMAL_DIGITS } from './exact-numbers.ts'
import type { DecimalTypes } from './views.ts'

export type QueryErrorContext = {
  folder: string
  /** Path of the folder as DuckDB sees it. */
  path: string
  /** The error of the first run of a statement, which applies if decimals of the second one do not fit either. */
  refusal?: ExportError | undefined
  /** Set once the views are created. */
  types?: DecimalTypes
  /** Whether the files of the statements' tables can be read; set once they are created. */
  areFilesReadable?: () => Promise<boolean>
}

/** Converts DuckDB's errors: USAGE for the statement, VERIFY_FAILED or OUTPUT_FAILED for a file. */
export async function rethrowQueryError(error: unknown, context: QueryErrorContext): Promise<never> {
  const { folder, path, types } = context
  const knownError = error instanceof ExportError ? error : toScratchError(error, dirname(path))
  if (knownError !== undefined) throw knownError
  const { message } = error as Error
  const engineMessage = message
    .replace(/^Failed to extract statements: /, '')
    .replaceAll(`${path}/`, '')
    .trim()
  const usage = (text: string, fix: string) =>
    new ExportError('USAGE', splitLines(text), { cause: error, fix })
  const notWhole = engineMessage.indexOf(NOT_AN_INTEGER)
  if (notWhole >= 0) throw usage(engineMessage.slice(notWhole), UNITS_FIX)
  if (STRING_DECIMALS.test(engineMessage))
    throw usage('units needs a whole number of decimals, such as 18', UNITS_FIX)
  if (engineMessage.includes(ORDER_KEY)) throw orderedUseError(types, error)
  const notExact = engineMessage.indexOf(NOT_EXACT)
  if (notExact >= 0 && context.refusal !== undefined) throw context.refusal
  if (notExact >= 0) throw usage(engineMessage.slice(notExact), OVERFLOW_FIX)
  if (/^Out of Range Error: Overflow in|^Conversion Error: .*\bDECIMAL\(/.test(engineMessage))
    throw usage(engineMessage, OVERFLOW_FIX)
  if (/^.*\bBIGNUM\b/.test(engineMessage)) throw usage(engineMessage, BIGNUM_FIX)
  // Statements can cause the same errors as damaged files, as error('text') does.
  const mayBeUnreadable = READ_ERROR.test(engineMessage)
  if (!mayBeUnreadable || (await context.areFilesReadable?.()) === true)
    // The statement was valid for the type of the first run.
    throw context.refusal ?? usage(engineMessage, FIX)
  const { at, reason } = readingProblem(engineMessage)
  const file = at === '' ? folder : (CSV_FILE.exec(engineMessage)?.[1] ?? folder)
  throw unreadableFileError(`${file}${at}`, reason, error)
}

/** What the text of decimals causes within the macro of `units`. */
const STRING_DECIMALS = /function call "\+\(STRING_LITERAL, INTEGER_LITERAL\)"/

/** DuckDB reports a missing file as one that a statement may not access. */
const READ_ERROR = new RegExp(`^(IO|Invalid Input|Invalid|Permission) Error: |${CSV_ERROR.source}`, 'm')

/**
 * Splits DuckDB's message into the problem, which may quote a cell of the export, and the location in the
 * statement.
 */
function splitLines(text: string): string[] {
  const at = text.search(LOCATION)
  const [problem, location] = at < 0 ? [text, ''] : [text.slice(0, at), text.slice(at)]
  return [oneLine(problem), ...location.split('\n').filter((line) => line !== '')]
}

const LOCATION = /\n+LINE \d+: .*\n *\^\s*$/

/**
 * Line in DuckDB's message that names the file of an invalid row, among reader options that are irrelevant to
 * users.
 */
const CSV_FILE = /^ *file = (.+)$/m

/** USAGE for a statement that computes with decimals which can only be ordered. */
export class OrderedUseError extends ExportError {}

/** Error that lists the columns with more digits than DuckDB can compute with. */
export function orderedUseError(types: DecimalTypes | undefined, cause?: unknown): OrderedUseError {
  const columns = Object.entries(types ?? {}).flatMap(([name, type]) =>
    type.kind === 'ordered'
      ? [`${name} has up to ${type.whole} digits before the point and ${type.fraction} after it`]
      : [],
  )
  const message = `${columns.join(', ')}: more than the ${DECIMAL_DIGITS} digits of DuckDB's exact numbers. Such values can be sorted, compared with each other, summed by sum(amount) and returned, but not used in arithmetic, casts and text functions`
  return new OrderedUseError('USAGE', message, { cause, fix: ORDERED_FIX })
}

const FIX = 'Correct the statement (DuckDB SQL). SHOW TABLES lists the tables, DESCRIBE ledger its columns.'

const UNITS_FIX = 'Round and cast the value first, as in units(round(avg(value))::BIGNUM, 18).'

const ORDERED_FIX =
  "Select rows whose amounts have fewer digits, as in WHERE asset_symbol = 'USDC'. Or sum the value of one asset, as in units(sum(value), 18); compare with units, as in amount > units(5, 0) for 5 or units(25, 1) for 2.5; for text and casts write units_text(value, 18), or units_text(value, asset_decimals) for any asset."

const OVERFLOW_FIX =
  'Compute in the smallest unit, which has no limit, as in sum(value); units_text(sum(value), 18) gives plain digits of any length as text.'

const BIGNUM_FIX =
  'Compare a BIGNUM (value, gas_price, transaction_fee, token_id) with whole numbers; for decimals write units(value, 18) > 1.5.'
