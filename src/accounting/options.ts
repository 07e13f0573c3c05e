import { realpath } from 'node:fs/promises'
import { ExportError } from '../core/model/errors.ts'
import { optionError } from '../core/model/option-error.ts'
import { DAY_MS, isDay, parseUtc } from '../core/model/utc.ts'
import { resolveOutputPath } from '../core/platform/user-file.ts'
import type { OpeningOption } from '../ledger/balances/read-opening.ts'
import type { Dataset } from '../read/dataset.ts'
import type { SwapMode } from './import-rows.ts'

/** Options of `convert`. */
export type ConvertOptions = {
  /** The import format: one of `FORMAT_NAMES`. */
  to: string
  /** `csv` is the text of the import format. `xlsx` is a workbook, for the generic format only. @default csv */
  format?: 'csv' | 'xlsx' | undefined
  /** Output file; a folder with `perWallet` or if the format consists of several files. @default the text goes to `write` */
  out?: string | undefined
  /** Receives the text in chunks if `out` is not set. */
  write?: (text: string) => Promise<void> | void
  /** Receives the workbook of the format `xlsx` if `out` is not set. */
  writeBytes?: (bytes: Uint8Array) => Promise<void> | void
  /** Write one file per wallet. @default false */
  perWallet?: boolean
  /** Addresses or labels of the wallets whose movements are converted. @default all wallets */
  wallets?: readonly string[] | undefined
  /** Omit movements of tokens that are probably spam or fakes, and list them. @default false */
  excludeSpam?: boolean
  /** UTC days or instants that limit the converted period; a day as `until` is included. @default the whole export */
  from?: string | undefined
  until?: string | undefined
  /** The program's name for the chain; for exports of one chain only. @default the name in the preset, if it has one, or else the chain id */
  chainName?: string | undefined
  /**
   * `attach` writes the fee of a transaction in the fee columns of its swap or sent amount, where the format documents how it
   * counts there; `separate` gives every fee a row of its own. @default what the program's own import of wallets does
   */
  fees?: 'attach' | 'separate' | undefined
  /** Which swaps to write as one row. @default 'pair' if the format supports such rows, else 'off' */
  swaps?: SwapMode | undefined
  /**
   * Whether amounts that left one chain and arrived on another are own transfers, with what did not arrive as their fee. For
   * exports of several chains. Lines of `labels` that name one of the transactions prevent it. @default false
   */
  matchBridges?: boolean
  /**
   * CSV file with the column type and columns of conditions, such as match: assigns types of the program (accounts for
   * journals) by transaction, counterparty, method, token, wallet, direction and date.
   */
  labels?: string | undefined
  /**
   * CSV file with the columns address and name, and optionally chain: names of wallets without a label, and of
   * counterparties.
   */
  names?: string | undefined
  /**
   * CSV file with the columns chain, contract and ticker, and further columns for programs: names of tokens. They take
   * precedence over the table of well-known tokens.
   */
  tickers?: string | undefined
  /** Whether well-known tokens get the ticker of the built-in table. @default true */
  builtinTickers?: boolean
  /**
   * CSV file with the columns date, asset, currency and price, and chain for exports of several chains. A movement is
   * valued at the newest price at or before its time that is at most 36 hours old. @default no fiat values
   */
  prices?: string | undefined
  /**
   * Opening balances, held before the first row of each export, as for `balances`. Each becomes a line one second before
   * that row. @default those that are known
   */
  opening?: OpeningOption
  /** CSV file of adjustments, as for `balances`. Each line that counts becomes a row of its time. @default none */
  adjustments?: string | undefined
  /**
   * File that stores the placeholder numbers of assets, for formats that use placeholders. Several exports may share
   * one file. Required if such a format is written for several exports.
   * @default the path of the export with `.assets.csv` appended
   */
  map?: string | undefined
}

type InputFiles = Pick<
  ConvertOptions,
  'labels' | 'names' | 'tickers' | 'prices' | 'opening' | 'adjustments' | 'map'
>

/**
 * Resolves the path of an output file. Throws USAGE if the path exists and is not a file, if it is one of the input
 * files of the options, or if it is inside an export.
 */
export async function resolveOutputFile(
  path: string,
  outputs: readonly string[],
  { labels, names, tickers, prices, opening, adjustments, map }: InputFiles,
): Promise<string> {
  const inputs = {
    '--prices': prices,
    '--labels': labels,
    '--names': names,
    '--tickers': tickers,
    '--opening': opening || undefined,
    '--adjustments': adjustments,
    '--map': map ?? (outputs.length === 1 ? await defaultMapPath(outputs) : undefined),
  }
  return resolveOutputPath(
    path,
    { inputs, exports: outputs },
    'Name a file, or omit --out to write to stdout.',
  )
}

/** The path of a file that a conversion writes next to `out`. `out` may be a folder with a trailing slash. */
export const siblingPath = (out: string, extension: string) => `${out.replace(/[\\/]+$/, '')}.${extension}`

/** The default of `map`: a file next to the folder of the only export. Throws USAGE if there are several. */
export async function defaultMapPath(outputs: readonly string[]): Promise<string> {
  const [output] = outputs
  if (output !== undefined && outputs.length === 1) return `${await realpath(output)}.assets.csv`
  throw new ExportError('USAGE', 'several outputs need one file for the numbers of unknown assets', {
    fix: 'Name the file with --map, and use the same one every time.',
  })
}

/** Times of the first and the last row of a ledger, in the format of the tables. */
export type TimeRange = { first: string; last: string }

/** Reads the time range of an export's ledger; undefined if it has no rows. */
export async function readTimeRange(opened: Dataset): Promise<TimeRange | undefined> {
  let range: TimeRange | undefined
  for await (const rows of opened.stream('ledger', ['block_timestamp'])) {
    for (const { block_timestamp: time } of rows) range = { first: range?.first ?? time, last: time }
  }
  return range
}

/** The half-open interval [from, to) of included times, in the format of the tables. */
export type Period = { from: string; to: string }

/**
 * Parses `--from` and `--until`, each a UTC day or instant. A day given as `until` is included to its end; an instant is not
 * included. Throws USAGE if a text is invalid or the period is empty.
 */
export function parsePeriod(from: string | undefined, until: string | undefined): Period {
  const first = from === undefined ? undefined : parseInstant('from', from)
  const end = until === undefined ? undefined : parseEnd(until)
  if (first !== undefined && end !== undefined && first >= end)
    throw new ExportError('USAGE', `--from ${from} is not before --until ${until}`, {
      fix: 'Give the earlier one as --from. For a single day, give that day as both.',
    })
  return {
    from: first === undefined ? '' : new Date(first).toISOString(),
    to: end === undefined || end >= YEAR_10000 ? '9999' : new Date(end).toISOString(),
  }
}

/** The last instant before a time; both have the format of the tables. */
export const instantBefore = (time: string): string => new Date(Date.parse(time) - 1).toISOString()

/** The texts of instants from here on sort before all others, because they begin with `+`. */
const YEAR_10000 = Date.UTC(10_000, 0)

const parseEnd = (text: string) => parseInstant('until', text) + (isDay(text) ? DAY_MS : 0)

function parseInstant(option: string, text: string): number {
  const instant = parseUtc(text)
  if (instant !== undefined) return instant
  throw optionError(option, {
    found: text,
    expected: 'a UTC day or instant',
    fix: 'Write it as 2024-03-31, or as 2024-03-31T12:00:00Z.',
  })
}
