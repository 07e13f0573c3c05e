import { basename, dirname } from 'node:path'
import { checkFile } from '../../accounting/check/check-file.ts'
import { type ConversionResult, convert } from '../../accounting/convert.ts'
import {
  consistsOfFiles,
  FORMAT_NAMES,
  isJournal,
  mayBeWorkbook,
  namesWallets,
  usesPlaceholders,
} from '../../accounting/formats.ts'
import { pricesNeeded, tickersNeeded } from '../../accounting/needed.ts'
import type { ConvertOptions } from '../../accounting/options.ts'
import { ExportError } from '../../core/model/errors.ts'
import { formatCount, limitLines, presentLines } from '../../terminal/format.ts'
import { print } from '../../terminal/print.ts'
import { defineCommand, option } from '../command.ts'
import { autoPriceOptions, priceFileOf } from '../fetch-price-file.ts'
import {
  adjustmentLines,
  emptyPeriodLine,
  openingLines,
  unfilledLines,
  unmatchedText,
  warnUnmatched,
} from '../file-warnings.ts'
import {
  adjustmentsOption,
  excludeSpamOption,
  namesOption,
  openingOption,
  outputsArgument,
  periodOptions,
  pricesNeededOption,
  pricesOption,
  strictOption,
  tickersOption,
  walletOption,
} from '../options/export-options.ts'
import { openLog } from '../options/log.ts'
import { type LocatedOutput, openOutput } from '../options/output-argument.ts'
import {
  announceFolder,
  chooseFormat,
  fileOf,
  formatOfEnding,
  PRICE_TEMPLATE,
  stdoutWriter,
  TICKER_TEMPLATE,
  workbookWriter,
  writeCsvTemplate,
} from '../result-file.ts'
import { usageError } from '../usage-error.ts'
import { isDoubtful, warnIfIncomplete } from '../warn-incomplete.ts'

export const command = defineCommand({
  name: 'convert',
  summary: 'Convert exports for an accounting program',
  description:
    'Convert the ledger into the import format of an accounting program. Several outputs, such as one per chain, become one file in time order. Amounts are exact. Movements that the format cannot represent are left out, counted and listed.',
  arguments: [outputsArgument(', such as one per chain, become one file')],
  options: [
    option('to <program>', 'Program or format of the file; generic for others', { choices: FORMAT_NAMES }),
    option('out <path>', 'File, or folder for several files (default: stdout)', { parse: fileOf }),
    option('format <format>', 'xlsx writes a workbook (generic only; default: the ending of --out, or csv)', {
      choices: ['csv', 'xlsx'],
    }),
    option('per-wallet', 'Write one file per wallet'),
    walletOption,
    ...periodOptions,
    option('chain-name <name>', 'Name of the chain in the accounting program'),
    option(
      'swaps <mode>',
      'Write swaps as one line: pair; all includes deposits for a share; off writes none',
      { choices: ['pair', 'all', 'off'] },
    ),
    option(
      'fees <where>',
      'attach writes a fee in the line that it was paid for; separate in a line of its own (default: as the program itself imports wallets)',
      { choices: ['attach', 'separate'] },
    ),
    option(
      'match-bridges',
      'Treat what left one chain and arrived on another as own transfers, and list them in OUT.bridges.csv',
    ),
    option(
      'labels <file>',
      'CSV file (match,type) that assigns types of the program by hash, address, method, token and others',
    ),
    namesOption('counterparties, and wallets without a label'),
    pricesOption('fiat values'),
    ...autoPriceOptions,
    openingOption,
    adjustmentsOption,
    pricesNeededOption,
    tickersOption('tokens'),
    option('tickers-needed', 'Print a CSV template for --tickers instead'),
    option('builtin-tickers', 'Name well-known tokens by symbol and contract digits, like all others', {
      negatable: true,
    }),
    excludeSpamOption,
    option(
      'map <file>',
      'File that stores the numbers of unknown assets (default: OUTPUT.assets.csv; required for several outputs)',
    ),
    option(
      'check <path>',
      'Check an import file, or the folder of rp2 or rotki, against the rules of the format instead; exit code 0 or 10',
    ),
    strictOption('a movement was left out or the export is missing rows'),
  ],
  examples: [
    ['convert output/mine --to cointracking --out cointracking.csv', 'One file for all wallets'],
    ['convert output/mine --tickers-needed --out tickers.csv', 'Tokens without a ticker, to fill in'],
    [
      'convert output/mine --to hledger --from 2024-01-01 --until 2024-12-31',
      'One year, as a journal on stdout',
    ],
    [
      'convert output/avalanche output/ethereum --to cointracking --out both.csv',
      'Several chains in one file',
    ],
  ],
  run: async ({ output: outputArgs, ...args }) => {
    const {
      strict = false,
      check,
      to,
      year,
      pricesNeeded: onlyPrices,
      tickersNeeded: onlyTickers,
      currency,
      maxRequests,
      wallet: wallets,
      ...rest
    } = args
    const [firstArg, ...otherArgs] = new Set(outputArgs)
    if (check !== undefined && firstArg === undefined) return reportMistakes(check, requirePreset(to))
    if (check !== undefined)
      throw usageError(`--check reads ${check}, so ${firstArg} is not used`, 'Omit the output or --check.')
    if (firstArg === undefined)
      throw usageError(
        'there is no output to convert',
        'Name the output folder of a finished export, or a file to check with --check.',
      )
    const open = (outputArg: string) => openOutput(outputArg, ['ledger', 'transactions'])
    const located: [LocatedOutput, ...LocatedOutput[]] = [await open(firstArg)]
    for (const outputArg of otherArgs) located.push(await open(outputArg))
    const prices = await priceFileOf(located, { ...rest, ...year, currency, maxRequests })
    const settings = { ...rest, ...year, prices, wallets }
    if (!onlyPrices && !onlyTickers)
      return writeConversion(located, withFormat(settings, requirePreset(to)), strict)
    const outputs = foldersOf(located)
    // Existing files are never overwritten, so the input files need no protection.
    const file = { file: rest.out, protectedPaths: { inputs: {}, exports: outputs } }
    return onlyPrices
      ? writeCsvTemplate(PRICE_TEMPLATE, file, () => pricesNeeded(outputs, settings))
      : writeCsvTemplate(TICKER_TEMPLATE, file, () => tickersNeeded(outputs, settings))
  },
})

type LocatedOutputs = readonly [LocatedOutput, ...LocatedOutput[]]

function foldersOf([first, ...others]: LocatedOutputs): [string, ...string[]] {
  return [first.output, ...others.map(({ output }) => output)]
}

async function writeConversion(
  located: LocatedOutputs,
  options: ConvertOptions,
  strict: boolean,
): Promise<void> {
  const remote = located.find(({ store }) => store !== undefined)
  if (remote !== undefined && usesPlaceholders(options.to) && options.map === undefined)
    throw usageError(
      `${remote.name} is in an object store, where the numbers of unknown assets cannot be kept`,
      'Name a local file for them with --map, and use the same one every time.',
    )
  const isPiped = options.format === 'xlsx' && options.out === undefined
  const outputs = foldersOf(located)
  if (options.out !== undefined) await announceFolder(options.out)
  const converted = await convert(outputs, {
    ...options,
    write: stdoutWriter().write,
    ...(isPiped ? { writeBytes: workbookWriter() } : {}),
  })
  reportConversion(converted, options)
  await warnUnmatched(outputs, options)
  let isIncomplete = Object.keys(converted.omitted).length > 0
  const wallets: string[] = []
  for (const output of outputs) {
    const manifest = await warnIfIncomplete(output)
    isIncomplete = isDoubtful(manifest) || isIncomplete
    for (const { address, transactions } of manifest.coverage) if (transactions > 0) wallets.push(address)
  }
  warnOfJoinedWallets(new Set(wallets).size, options)
  if (!strict || !isIncomplete) return
  const names = located.map(({ name }) => name).join(' and ')
  throw new ExportError(
    'RECORDS_REJECTED',
    `the file does not contain all of ${names}, or amounts that may be wrong`,
    { fix: 'The lines above say what is missing and why. Without --strict, the exit code is 0.' },
  )
}

/** Warns if a file has the rows of several wallets, and the format has no column that tells them apart. */
function warnOfJoinedWallets(count: number, { to, perWallet, wallets }: ConvertOptions): void {
  if (count < 2 || perWallet || wallets?.length === 1 || namesWallets(to)) return
  openLog({}).warn(
    `${formatCount(count, 'wallet')} in one file, and ${to} has no column that names them: to import them one by one, use --per-wallet`,
  )
}

/** Determines the file and its format. Throws USAGE if the ending of the file says otherwise. */
function withFormat(args: Omit<ConvertOptions, 'to'>, to: string): ConvertOptions {
  const { out, format: given, perWallet = false } = args
  const isFolder = perWallet || consistsOfFiles(to)
  if (!isFolder) {
    const formats = isJournal(to) ? [] : (['csv', 'xlsx'] as const)
    const fix = `Name a file that ends in ${endingsOf(to)}.`
    const rules = isJournal(to) ? { fix, allowsAnyEnding: true } : { fix }
    return { ...args, to, format: chooseFormat(out, { given, formats, fallback: 'csv', ...rules }) }
  }
  if (formatOfEnding(out) === undefined) return { ...args, to }
  const writer = perWallet ? '--per-wallet' : to
  throw usageError(`${out} has the ending of a file, but ${writer} writes several files`, 'Name a folder.')
}

function endingsOf(to: string): string {
  if (isJournal(to)) return `.journal or .${to}`
  return mayBeWorkbook(to) ? '.csv or .xlsx' : '.csv'
}

function requirePreset(to: string | undefined): string {
  if (to !== undefined) return to
  throw usageError(
    '--to is missing: the program that the file is for',
    `Name one of ${FORMAT_NAMES.join(', ')}.`,
  )
}

/** Maximum number of mistakes that are listed. */
const MAX_REPORTED = 100

async function reportMistakes(file: string, to: string): Promise<void> {
  let mistakes = 0
  const rows = await checkFile(file, to, ({ file: place = file, line, what: message }) => {
    mistakes += 1
    if (mistakes <= MAX_REPORTED) print(`${place}:${line}: ${message}`)
  })
  if (mistakes === 0) return print(`${file}: OK for ${to} (${formatCount(rows, unitOf(to))})`)
  if (mistakes > MAX_REPORTED) print(`and ${formatCount(mistakes - MAX_REPORTED, 'mistake')} more`)
  throw new ExportError('VERIFY_FAILED', `${file}: ${formatCount(mistakes, 'mistake')} for ${to}`, {
    fix: 'Correct the lines named above, or convert the export again.',
  })
}

type ConversionOptions = Pick<
  ConvertOptions,
  'to' | 'out' | 'labels' | 'matchBridges' | 'opening' | 'adjustments' | 'from' | 'until'
>

/** Reports on stderr what was written, and what may be wrong with it. */
function reportConversion(converted: ConversionResult, options: ConversionOptions): void {
  const { merged, split, placeholders, ledgerTimeRange, omitted, omittedFile, staleFiles } = converted
  const log = openLog({})
  const facts = presentLines(
    formatResult(converted, options),
    merged > 0 &&
      `${formatCount(merged, 'line')} merged with identical ones, which ${options.to} may skip as duplicates`,
    split > 0 &&
      `${formatCount(split, 'movement')} added: payments through a contract are split into transfers to your wallets`,
    placeholders && placeholderLine(placeholders),
    adjustmentLines(options.adjustments, converted.adjustments),
    options.matchBridges === true &&
      `${formatCount(converted.bridges.length, 'transfer')} between chains matched: check them; a line of --labels for one of their transactions prevents it`,
  )
  log.info(facts)
  const warnings = presentLines(
    ledgerTimeRange && emptyPeriodLine(ledgerTimeRange, options),
    openingLines(options.opening, converted.opening),
    unfilledLines(options.adjustments, converted.adjustments.unfilled),
    Object.entries(omitted).map(
      ([reason, count]) =>
        `${formatCount(count, 'movement')} ${reason.startsWith('rounded') ? reason : `left out: ${reason}`}`,
    ),
    omittedFile !== undefined && `listed in ${omittedFile}`,
    staleFiles.length > 0 && staleLine(staleFiles),
    labelWarnings(converted, options),
    limitLines(
      Object.entries(converted.unpriced),
      MAX_LISTED,
      ([asset, count]) => `${formatCount(count, 'amount')} of ${asset} without a price`,
      (more) => `and of ${formatCount(more, 'further asset')}: see --prices-needed`,
    ),
  )
  log.warn(warnings)
}

/** Maximum number of files, of labels that do not fit and of assets without a price that are listed. */
const MAX_LISTED = 5

/** Names the numbers of tokens without a ticker, and the file that later conversions need to give them the same ones. */
function placeholderLine({ names, file }: NonNullable<ConversionResult['placeholders']>): string {
  const numberOf = (name: string) => Number(/\d+$/.exec(name)?.[0])
  const listed = ['NULL', 'NFT'].flatMap((kind) => {
    const ofKind = names.filter((name) => name.startsWith(kind)).sort((a, b) => numberOf(a) - numberOf(b))
    return ofKind.length > 2 ? [`${ofKind[0]} … ${ofKind.at(-1)}`] : ofKind
  })
  const what = `${formatCount(names.length, 'token')} without a ticker ${names.length === 1 ? 'is' : 'are'} named ${listed.join(', ')}`
  return `${what}: ${file} says what they are. Keep it, so that later files use the same names`
}

function labelWarnings(
  { labels: { unmatched, inapplicable } }: ConversionResult,
  { labels = '' }: ConversionOptions,
): string[] {
  return presentLines(
    limitLines(
      inapplicable,
      MAX_LISTED,
      ({ line, type, needs, count, first }) =>
        `${labels}:${line}: ${type} needs ${needs}: ${formatCount(count, 'line')} without that kept the usual type, the first in transaction ${first}`,
      (more) => `and ${formatCount(more, 'further label')} did not fit all lines that matched`,
    ),
    unmatched &&
      `${unmatchedText(labels, unmatched.count, unmatched.first)} (fees and own transfers keep their type)`,
  )
}

/** Unit in which the entries of a format are counted. */
const unitOf = (to: string) => (isJournal(to) ? 'transaction' : 'line')

/** Warning about files of wallets that are in the folder, but not of this conversion. */
function staleLine(files: readonly string[]): string {
  const names = files.slice(0, MAX_LISTED).map((file) => basename(file))
  const more = files.length > names.length ? ' and others' : ''
  const count =
    files.length === 1
      ? '1 file of an earlier conversion is'
      : `${files.length} files of earlier conversions are`
  return `${count} still in ${dirname(files[0] ?? '')}, do not import: ${names.join(', ')}${more}`
}

function formatResult(
  { movements, lines, files: written, omittedFile }: ConversionResult,
  { to, out }: ConversionOptions,
): string {
  const files = written.filter((file) => file !== omittedFile)
  const message = `${formatCount(movements, 'movement')} became ${formatCount(lines, unitOf(to))} for ${to}`
  if (files.length === 0) return message
  return files.length > MAX_LISTED
    ? `${message}: ${files.length} files in ${out}`
    : `${message}: ${files.join(', ')}`
}
