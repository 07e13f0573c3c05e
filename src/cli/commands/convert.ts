import { checkFile } from '../../accounting/check/check-file.ts'
import { convert } from '../../accounting/convert.ts'
import type { ConvertOptions } from '../../accounting/options.ts'
import { pricesNeeded } from '../../accounting/prices-needed.ts'
import { tickersNeeded } from '../../accounting/tickers-needed.ts'
import {
  consistsOfFiles,
  FORMAT_NAMES,
  isJournal,
  mayBeWorkbook,
  usesPlaceholders,
} from '../../accounting/writers.ts'
import { ExportError } from '../../core/model/errors.ts'
import { formatCount } from '../../terminal/format.ts'
import { print } from '../../terminal/print.ts'
import { defineCommand, defineOptions, type OptionValues } from '../command.ts'
import { chooseFormat, fileOf, formatOfEnding } from '../options/file-format.ts'
import { openingOptions } from '../options/opening-option.ts'
import { type LocatedOutput, OUTPUT_OR_JOB, openOutput } from '../options/output-argument.ts'
import { periodOptions, resolveYear } from '../options/period-options.ts'
import { reportConversion, unitOf } from '../report-conversion.ts'
import { workbookWriter } from '../result-file.ts'
import { stdoutWriter } from '../stdout-writer.ts'
import { isDoubtful, warnIfIncomplete } from '../warn-incomplete.ts'
import { warnUnmatched } from '../warn-unmatched.ts'
import { PRICE_TEMPLATE, TICKER_TEMPLATE, writeCsvTemplate } from '../write-csv-template.ts'

const options = defineOptions([
  { name: 'to', value: '<preset>', choices: FORMAT_NAMES, description: 'Import format' },
  { name: 'out', value: '<path>', description: 'File, or folder for several files (default: stdout)' },
  {
    name: 'format',
    value: '<format>',
    choices: ['csv', 'xlsx'],
    description: 'xlsx writes a workbook (generic only; default: the ending of --out, or csv)',
  },
  { name: 'per-wallet', description: 'Write one file per wallet' },
  ...periodOptions,
  { name: 'chain-name', value: '<name>', description: 'Name of the chain in the accounting program' },
  {
    name: 'swaps',
    value: '<mode>',
    choices: ['pair', 'all', 'off'],
    description: 'Write swaps as one line: pair; all includes deposits for a share; off writes none',
  },
  {
    name: 'labels',
    value: '<file>',
    description:
      'CSV file (match,type) that assigns types of the program by hash, address, method, token and others',
  },
  {
    name: 'names',
    value: '<file>',
    description: 'CSV file (address,name) that names counterparties, and wallets without a label',
  },
  {
    name: 'prices',
    value: '<file>',
    description: 'CSV file of prices (date,asset,currency,price; chain for several chains) for fiat values',
  },
  ...openingOptions,
  { name: 'prices-needed', description: 'Print a CSV template for --prices instead' },
  {
    name: 'tickers',
    value: '<file>',
    description: 'CSV file of tickers (chain,contract,ticker) for tokens',
  },
  { name: 'tickers-needed', description: 'Print a CSV template for --tickers instead' },
  {
    name: 'builtin-tickers',
    negatable: true,
    description: 'Name well-known tokens by symbol and contract digits, like all others',
  },
  { name: 'exclude-spam', description: 'Leave out the spam tokens that `balances --flags` lists' },
  {
    name: 'map',
    value: '<file>',
    description:
      'File that stores the numbers of unknown assets (default: OUTPUT.assets.csv; required for several outputs)',
  },
  {
    name: 'check',
    value: '<file>',
    description: 'Check an import file against the rules of the format instead; exit code 0 or 10',
  },
  {
    name: 'strict',
    description: 'Exit with code 6 if a movement was left out or the export is missing rows',
  },
])
type ConvertArguments = Omit<OptionValues<typeof options>, 'year'>

export const command = defineCommand({
  name: 'convert',
  summary: 'Convert exports for an accounting program',
  description:
    'Convert the ledger into the import format of an accounting program. Several outputs, such as one per chain, become one file in time order. Amounts are exact. Movements that the format cannot represent are left out, counted and listed.',
  arguments: [
    {
      name: 'output',
      repeatable: true,
      description: `${OUTPUT_OR_JOB}; several, such as one per chain, become one file`,
    },
  ],
  options,
  examples: [
    ['convert output/mine --to cointracking --out cointracking.csv', 'One file for all wallets'],
    ['convert output/mine --tickers-needed --out tickers.csv', 'Tokens without a ticker, to fill in'],
    [
      'convert output/mine --to hledger --from 2024-01-01 --until 2024-12-31',
      'One year, as a journal on stdout',
    ],
    [
      'convert output/avalanche output/ethereum --to koinly --map assets.csv --out koinly.csv',
      'Several chains in one file',
    ],
  ],
  run: ({ output, ...args }) => convertOutputs(output, resolveYear(args)),
})

async function convertOutputs(
  outputArgs: string[],
  { strict = false, check, to, ...args }: ConvertArguments,
): Promise<void> {
  const { pricesNeeded: onlyPriceTemplate = false, tickersNeeded: onlyTickerTemplate = false, ...rest } = args
  const [firstArg, ...otherArgs] = new Set(outputArgs)
  if (check !== undefined && firstArg === undefined) return reportMistakes(check, requirePreset(to))
  if (check !== undefined)
    throw new ExportError('USAGE', `--check reads ${check}, so ${firstArg} is not used`, {
      fix: 'Omit the output or --check.',
    })
  if (firstArg === undefined)
    throw new ExportError('USAGE', 'there is no output to convert', {
      fix: 'Name the output folder of a finished export, or a file to check with --check.',
    })
  const open = (outputArg: string) => openOutput(outputArg, ['ledger', 'transactions'])
  const located: [LocatedOutput, ...LocatedOutput[]] = [await open(firstArg)]
  for (const outputArg of otherArgs) located.push(await open(outputArg))
  if (onlyPriceTemplate || onlyTickerTemplate) {
    const outputs = foldersOf(located)
    // Existing files are never overwritten, so the input files need no protection.
    const file = { out: rest.out, protectedPaths: { inputs: {}, exports: outputs } }
    return onlyPriceTemplate
      ? writeCsvTemplate(PRICE_TEMPLATE, { ...file, collect: () => pricesNeeded(outputs, rest) })
      : writeCsvTemplate(TICKER_TEMPLATE, { ...file, collect: () => tickersNeeded(outputs, rest) })
  }
  return writeConversion(located, { ...withFormat(rest, requirePreset(to)), strict })
}

type LocatedOutputs = readonly [LocatedOutput, ...LocatedOutput[]]

function foldersOf([first, ...others]: LocatedOutputs): [string, ...string[]] {
  return [first.output, ...others.map(({ output }) => output)]
}

const nameAll = (located: LocatedOutputs) => located.map(({ name }) => name).join(' and ')

async function writeConversion(
  located: LocatedOutputs,
  { strict, ...options }: ConvertOptions & { strict: boolean },
): Promise<void> {
  const remote = located.find(({ store }) => store !== undefined)
  if (remote !== undefined && usesPlaceholders(options.to) && options.map === undefined)
    throw new ExportError(
      'USAGE',
      `${remote.name} is in an object store, where the numbers of unknown assets cannot be kept`,
      {
        fix: 'Name a local file for them with --map, and use the same one every time.',
      },
    )
  const { write } = stdoutWriter()
  const isPiped = options.format === 'xlsx' && options.out === undefined
  const outputs = foldersOf(located)
  const converted = await convert(outputs, {
    ...options,
    write,
    ...(isPiped ? { writeBytes: workbookWriter() } : {}),
  })
  reportConversion(converted, options)
  await warnUnmatched(outputs, options)
  let isIncomplete = Object.keys(converted.omitted).length > 0
  for (const output of outputs) isIncomplete = isDoubtful(await warnIfIncomplete(output)) || isIncomplete
  if (strict && isIncomplete)
    throw new ExportError(
      'RECORDS_REJECTED',
      `the file does not contain all of ${nameAll(located)}, or amounts that may be wrong`,
      {
        fix: 'The lines above say what is missing and why. Without --strict, the exit code is 0.',
      },
    )
}

/** Determines the file and its format. Throws USAGE if the ending of the file says otherwise. */
function withFormat(args: Omit<ConvertOptions, 'to'>, to: string): ConvertOptions {
  const out = fileOf(args.out)
  const { format: given, perWallet = false } = args
  const isFolder = perWallet || consistsOfFiles(to)
  if (!isFolder) {
    const formats = isJournal(to) ? [] : (['csv', 'xlsx'] as const)
    const fix = `Name a file that ends in ${endingsOf(to)}.`
    const rules = isJournal(to) ? { fix, allowsAnyEnding: true } : { fix }
    return { ...args, to, out, format: chooseFormat(out, { given, formats, fallback: 'csv', ...rules }) }
  }
  if (formatOfEnding(out) === undefined) return { ...args, to, out }
  throw new ExportError(
    'USAGE',
    `${out} has the ending of a file, but ${perWallet ? '--per-wallet' : to} writes several files`,
    { fix: 'Name a folder.' },
  )
}

function endingsOf(to: string): string {
  if (isJournal(to)) return `.journal or .${to}`
  return mayBeWorkbook(to) ? '.csv or .xlsx' : '.csv'
}

function requirePreset(to: string | undefined): string {
  if (to !== undefined) return to
  throw new ExportError('USAGE', '--to is missing: the program that the file is for', {
    fix: `Name one of ${FORMAT_NAMES.join(', ')}.`,
  })
}

/** Maximum number of mistakes that are listed. */
const MAX_REPORTED = 100

async function reportMistakes(file: string, to: string): Promise<void> {
  let mistakes = 0
  const rows = await checkFile(file, to, ({ line, what: message }) => {
    mistakes += 1
    if (mistakes <= MAX_REPORTED) print(`${file}:${line}: ${message}`)
  })
  if (mistakes === 0) return print(`${file}: good for ${to} (${formatCount(rows, unitOf(to))})`)
  if (mistakes > MAX_REPORTED) print(`and ${formatCount(mistakes - MAX_REPORTED, 'mistake')} more`)
  throw new ExportError('VERIFY_FAILED', `${file}: ${formatCount(mistakes, 'mistake')} for ${to}`, {
    fix: 'Correct the lines named above, or convert the export again.',
  })
}
