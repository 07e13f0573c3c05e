import { stat } from 'node:fs/promises'
import { type Command, Option } from 'commander'
import { checkFile } from '../../accounting/check/check-file.ts'
import { type Converted, convert } from '../../accounting/convert.ts'
import { JOURNALS } from '../../accounting/journals/index.ts'
import { placeOfFile } from '../../accounting/options.ts'
import { pricesNeeded } from '../../accounting/prices-needed.ts'
import { numbersAssets, PRESET_NAMES } from '../../accounting/writers.ts'
import { ExportError } from '../../core/model/errors.ts'
import { csvLine } from '../../core/platform/csv-text.ts'
import { refuseFolder, writeNamedFile } from '../../core/platform/user-file.ts'
import { counted } from '../../terminal/format.ts'
import { say } from '../../terminal/print.ts'
import { shellWord } from '../../terminal/shell-quote.ts'
import { addExamples } from '../examples.ts'
import { openLog } from '../options/log.ts'
import { OUTPUT_OR_JOB, outputOf } from '../options/output-argument.ts'
import { answerSink } from '../stdout-writer.ts'
import { warnOfGaps } from '../warn-incomplete.ts'

type ConvertArguments = {
  to?: string
  out?: string
  perWallet?: boolean
  from?: string
  until?: string
  chainName?: string
  swaps?: 'pair' | 'off'
  labels?: string
  excludeSpam?: boolean
  map?: string
  strict?: boolean
  check?: string
  prices?: string
  pricesNeeded?: boolean
}

export function convertCommand(program: Command): void {
  const command = program
    .command('convert')
    .summary('Convert an export for an accounting program')
    .description(
      'Convert the ledger into the import format of an accounting program. Amounts are exact. Movements that the format cannot represent are left out, counted and listed.',
    )
    .argument('[output]', OUTPUT_OR_JOB)
    .addOption(new Option('--to <preset>', 'Import format').choices(PRESET_NAMES))
    .option('--out <path>', 'File, or folder for several files (default: stdout)')
    .option('--per-wallet', 'Write one file per wallet')
    .option('--from <date>', 'Start at this UTC day or instant')
    .option('--until <date>', 'Stop at the end of this UTC day, or at this instant')
    .option('--chain-name <name>', 'Name of the chain in the accounting program')
    .addOption(
      new Option('--swaps <mode>', 'Write a swap as one line or as separate lines').choices(['pair', 'off']),
    )
    .option(
      '--labels <file>',
      'CSV file (match,type) that assigns types of the program by hash, address or method',
    )
    .option('--prices <file>', 'CSV file of prices (date,asset,currency,price) for fiat values')
    .option('--prices-needed', 'Print a CSV template for --prices instead')
    .option('--exclude-spam', 'Leave out the spam tokens that `balances --flags` lists')
    .option('--map <file>', 'File that stores the numbers of unknown assets (default: OUTPUT.assets.csv)')
    .option(
      '--check <file>',
      'Check an import file against the rules of the format instead; exit code 0 or 10',
    )
    .option('--strict', 'Exit with code 6 if a movement was left out or the export is missing rows')
    .action(convertOutput)
  addExamples(command, ...EXAMPLES)
}

const EXAMPLES = [
  ['convert output/mine --to cointracking --out cointracking.csv', 'One file for all wallets'],
  [
    'convert output/mine --to hledger --from 2024-01-01 --until 2024-12-31',
    'One year, as a journal on stdout',
  ],
] as const

async function convertOutput(
  word: string | undefined,
  { strict = false, check, pricesNeeded: listsPrices = false, to, ...rest }: ConvertArguments,
): Promise<void> {
  if (check !== undefined && word === undefined) return tellMistakes(check, requirePreset(to))
  if (check !== undefined)
    throw new ExportError('USAGE', `--check looks at ${check}, and not at ${word}`, {
      fix: 'Leave the output out, or --check.',
    })
  if (word === undefined)
    throw new ExportError('USAGE', 'there is no output to convert', {
      fix: 'Name the output folder of a finished export, or a file to look at with --check.',
    })
  if (listsPrices) return listPrices(word, rest)
  const options = { ...rest, to: requirePreset(to) }
  const { output, name, store } = await outputOf(word, ['ledger', 'transactions'])
  if (store !== undefined && numbersAssets(options.to) && options.map === undefined)
    throw new ExportError(
      'USAGE',
      `${name} has no folder beside it that keeps the numbers of unknown assets`,
      {
        fix: 'Name a file for them with --map, and give the same one every time.',
      },
    )
  const { write } = answerSink()
  const converted = await convert(output, { ...options, write })
  const log = openLog({})
  log.info(tell(converted, options))
  if (converted.span !== undefined) log.warn(spanLine(converted.span, rest))
  for (const [reason, count] of Object.entries(converted.omitted))
    log.warn(`${counted(count, 'movement')} ${reason.startsWith('cut off') ? reason : `left out: ${reason}`}`)
  if (converted.omittedFile !== undefined) log.warn(`they are listed in ${converted.omittedFile}`)
  for (const warning of [...labelWarnings(converted, options), ...unpricedTold(converted)]) log.warn(warning)
  const { rejects, coverage } = await warnOfGaps(output)
  const lacksRows = rejects > 0 || coverage.some(({ error }) => error !== undefined)
  if (strict && (lacksRows || Object.keys(converted.omitted).length > 0))
    throw new ExportError('RECORDS_REJECTED', `the file does not hold all of ${output}`, {
      fix: 'See above what was left out, and why; without --strict this is no failure.',
    })
}

/** Assets without a price that are told one by one. */
const UNPRICED_TOLD = 5

function unpricedTold({ unpriced }: Converted): string[] {
  const assets = Object.entries(unpriced)
  const more = assets.length - UNPRICED_TOLD
  return [
    ...assets
      .slice(0, UNPRICED_TOLD)
      .map(([asset, count]) => `${counted(count, 'amount')} of ${asset} without a price`),
    ...(more > 0 ? [`and of ${counted(more, 'further asset')}: see --prices-needed`] : []),
  ]
}

/** Labels that are named one by one. */
const MISFITS_NAMED = 5

function labelWarnings(
  { labels: { unmatched, misfits } }: Converted,
  { labels }: { labels?: string },
): string[] {
  const warnings = misfits
    .slice(0, MISFITS_NAMED)
    .map(
      ({ line, type, needs, count, first }) =>
        `${labels}:${line}: ${type} needs ${needs}: ${counted(count, 'line')} without that kept the usual type, ` +
        `the first in transaction ${first}`,
    )
  const more = misfits.length - MISFITS_NAMED
  if (more > 0) warnings.push(`and ${counted(more, 'further label')} did not fit all lines that matched`)
  if (unmatched === undefined) return warnings
  const { count, first } = unmatched
  const named = `${count === 1 ? '' : 'the first is '}${first.match} in line ${first.line}`
  return [
    ...warnings,
    `${counted(count, 'line')} of ${labels} matched nothing: ${named} (fees keep their own type)`,
  ]
}

function requirePreset(to: string | undefined): string {
  if (to !== undefined) return to
  throw new ExportError('USAGE', '--to is missing: the program that the file is for', {
    fix: `Name one of ${PRESET_NAMES.join(', ')}.`,
  })
}

/** Writes what `--prices` reads, with the prices left to fill in. */
async function listPrices(word: string, options: Omit<ConvertArguments, 'to'>): Promise<void> {
  const { output } = await outputOf(word, ['ledger', 'transactions'])
  const place = options.out === undefined ? undefined : await newPlace(options.out, output)
  const needed = await pricesNeeded(output, options)
  const lines = needed.map(({ date, asset, symbol }) => csvLine([date, asset, null, null, symbol || null]))
  const text = [csvLine(['date', 'asset', 'currency', 'price', 'symbol']), ...lines].join('')
  if (place === undefined) return answerSink().write(text)
  await writeNamedFile(place, text)
  openLog({}).info(`${counted(needed.length, 'price')} to fill in: ${options.out}`)
}

/** Where a list of prices is written. Throws USAGE where a file is there: somebody may have filled it in. */
async function newPlace(out: string, output: string): Promise<string> {
  // Whatever else is there is refused, a file of the options too.
  const place = await placeOfFile(out, output, {})
  await refuseFolder(out)
  if ((await stat(place).catch(() => undefined)) === undefined) return place
  throw new ExportError('USAGE', `${out} is there already, and prices may be filled in there`, {
    fix: `Name another file with --out; with --prices ${shellWord(out)} it lists only what is missing there.`,
  })
}

/** Mistakes that are told one by one. */
const TOLD = 100

async function tellMistakes(file: string, to: string): Promise<void> {
  let mistakes = 0
  const rows = await checkFile(file, to, ({ line, what }) => {
    mistakes += 1
    if (mistakes <= TOLD) say(`${file}:${line}: ${what}`)
  })
  if (mistakes === 0) return say(`${file}: good for ${to} (${counted(rows, unitOf(to))})`)
  if (mistakes > TOLD) say(`and ${counted(mistakes - TOLD, 'mistake')} more`)
  throw new ExportError('VERIFY_FAILED', `${file}: ${counted(mistakes, 'mistake')} for ${to}`, {
    fix: 'Correct the lines named above, or convert the export again.',
  })
}

/** Where a period holds nothing, what the export holds. */
function spanLine(
  { first, last }: NonNullable<Converted['span']>,
  { from, until }: ConvertArguments,
): string {
  const asked = [
    from === undefined ? '' : ` from ${from}`,
    until === undefined ? '' : ` until ${until}`,
  ].join('')
  return `no movement${asked}: the export has movements from ${first} to ${last}`
}

/** What a file of a format is counted in. */
const unitOf = (to: string) => (JOURNALS.some(({ name }) => name === to) ? 'transaction' : 'line')

/** Files that are named one by one. */
const NAMED = 5

function tell({ movements, lines, files }: Converted, { to, out }: { to: string; out?: string }): string {
  const what = `${counted(movements, 'movement')} became ${counted(lines, unitOf(to))} for ${to}`
  if (files.length === 0) return what
  return files.length > NAMED ? `${what}: ${files.length} files in ${out}` : `${what}: ${files.join(', ')}`
}
