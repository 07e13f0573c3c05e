import type { AmountName } from '../../accounting/statement/flows.ts'
import { decimalsOf, type StatementLine } from '../../accounting/statement/ledger-sums.ts'
import { parseStatementPeriod, type Statement, statement } from '../../accounting/statement/statement.ts'
import {
  entryTypeTable,
  statementSheets,
  statementTable,
  type TextTable,
  wholeUnits,
} from '../../accounting/statement/statement-rows.ts'
import { isNft } from '../../core/model/asset.ts'
import type { Manifest } from '../../core/model/manifest.ts'
import { roundDecimal, shiftDecimal } from '../../core/platform/decimal.ts'
import { xlsxBytes } from '../../core/platform/xlsx.ts'
import { FIAT_DECIMALS } from '../../ledger/prices/prices.ts'
import { readReconciliation } from '../../read/read-reconciliation.ts'
import { formatCount, presentLines } from '../../terminal/format.ts'
import { storedReconciliationLines } from '../../terminal/reconciliation-lines.ts'
import { type PrintableResult, RESULT_FORMATS, writeQueryResult } from '../../terminal/write-query-result.ts'
import { defineCommand, type OptionValues, option } from '../command.ts'
import { autoPriceOptions, priceFileOf } from '../fetch-price-file.ts'
import {
  adjustmentLines,
  emptyPeriodLine,
  negativeLines,
  openingLines,
  unfilledLines,
  warnUnmatched,
} from '../file-warnings.ts'
import {
  AMOUNTS_DOUBTFUL,
  adjustmentsOption,
  namesOption,
  openingOption,
  outOption,
  outputsArgument,
  periodOptions,
  pricesNeededOption,
  pricesOption,
  strictOption,
  walletOption,
} from '../options/export-options.ts'
import { openLog } from '../options/log.ts'
import { type LocatedOutput, openOutputs } from '../options/output-argument.ts'
import { chooseFormat, openResultFile, PRICE_TEMPLATE, writeCsvTemplate } from '../result-file.ts'
import { printableTable, roundAmount, truncateMiddle } from '../table-cells.ts'
import { throwIfDoubtful, warnIfIncomplete } from '../warn-incomplete.ts'

const FORMATS = [...RESULT_FORMATS, 'xlsx'] as const

const options = [
  ...periodOptions,
  walletOption,
  openingOption,
  adjustmentsOption,
  namesOption('wallets without a label'),
  pricesOption('fiat values'),
  ...autoPriceOptions,
  pricesNeededOption,
  option('entry-types', 'List the totals of each entry type instead (XLSX always contains them)'),
  strictOption(AMOUNTS_DOUBTFUL),
  option('format <format>', 'Output format (default: the one that the ending of --out names, or table)', {
    choices: FORMATS,
  }),
  outOption('File to write, such as 2024.xlsx (default: stdout)'),
]
type StatementArguments = OptionValues<typeof options>

export const command = defineCommand({
  name: 'statement',
  summary: 'State balances and flows of a year, by wallet and asset',
  description:
    'State the opening balance of each wallet and asset, what was received, sent, swapped, wrapped and paid as fees in a period, and the closing balance. The table rounds long amounts (≈) and values; the other formats are exact.',
  arguments: [{ ...outputsArgument(', such as one per chain, are combined'), required: true }],
  options,
  examples: [
    ['statement output/mine --year 2024', 'A calendar year (UTC)'],
    ['statement output/mine --from 2024-04-01 --until 2025-03-31 --format csv', 'Another period, exact'],
    ['statement output/mine --year 2024 --out 2024.xlsx', 'A workbook'],
    ['statement output/avalanche output/ethereum --year 2024 --format csv', 'Several chains'],
  ],
  run: ({ output, ...args }) => printStatement(output, args),
})

async function printStatement(outputArgs: string[], given: StatementArguments): Promise<void> {
  const { currency, maxRequests, ...settings } = given
  const located = await openOutputs(outputArgs, ['ledger'])
  const { from, until, year, opening, adjustments } = settings
  const period = { from, until, ...year }
  // Prices are requested only for a statement that can be made.
  parseStatementPeriod(period)
  const auto = { ...period, prices: settings.prices, opening, adjustments, currency, maxRequests }
  const prices = await priceFileOf(located, auto)
  await writeStatement(located, prices === undefined ? settings : { ...settings, prices })
}

async function writeStatement(located: readonly LocatedOutput[], args: StatementArguments): Promise<void> {
  const { wallet: wallets = [], pricesNeeded, format: given, out, year, entryTypes, ...rest } = args
  const [first, ...others] = located.map(({ output }) => output)
  const folders: [string, ...string[]] = [first ?? '', ...others]
  const settings = { ...rest, ...year, wallets }
  const inputs = {
    '--prices': args.prices,
    '--opening': args.opening || undefined,
    '--adjustments': args.adjustments,
    '--names': args.names,
  }
  const protectedPaths = { inputs, exports: folders }
  if (pricesNeeded)
    return writeCsvTemplate(
      PRICE_TEMPLATE,
      { file: out, protectedPaths },
      async () => (await statement(folders, { ...settings, collectsNeeded: true })).pricesNeeded,
    )
  const format = chooseFormat(out, { given, formats: FORMATS, fallback: 'table', fixes: PAGE_FIXES })
  const file = await openResultFile({ file: out, protectedPaths, isBinary: format === 'xlsx' })
  const stated = await statement(folders, settings)
  if (format === 'xlsx') await file.writeBytes(await xlsxBytes(statementSheets(stated)))
  else {
    const exact = () => printable(entryTypes ? entryTypeTable(stated) : statementTable(stated))
    const table = format === 'table' && !entryTypes ? displayTable(stated) : exact()
    await writeQueryResult(table, format, file)
  }
  await file.close()
  const manifests = await report(stated, located, args)
  await warnUnmatched(folders, args)
  throwIfDoubtful(manifests, args)
}

const PAGE_FIX = 'The pages of `walletlake report` contain the statements of all years'
/** How to get a statement as a page. */
const PAGE_FIXES = {
  html: `${PAGE_FIX}.`,
  pdf: `${PAGE_FIX}, and can be printed as PDF.`,
}

/** Reports on stderr what the statement covers, and what may be wrong with it. Returns the manifests of its exports. */
async function report(stated: Statement, located: readonly LocatedOutput[], args: StatementArguments) {
  const log = openLog({})
  const manifests: Manifest[] = []
  for (const [at, { output, name }] of located.entries()) {
    const stateOf = stated.exports[at] as Statement['exports'][number]
    const { ledgerTimeRange, opening, adjustments, belowZero } = stateOf
    manifests.push(await warnIfIncomplete(output))
    const verdict = await readReconciliation(output)
    if (verdict !== undefined) for (const line of storedReconciliationLines(verdict)) log.info(line)
    const place = located.length > 1 ? `${name}: ` : ''
    log.info(`${place}${periodLine(stated, stateOf)}`)
    for (const line of adjustmentLines(args.adjustments, adjustments)) log.info(`${place}${line}`)
    for (const line of presentLines(
      ledgerTimeRange && emptyPeriodLine(ledgerTimeRange, { ...args, ...args.year }),
      openingLines(args.opening, opening),
      unfilledLines(args.adjustments, adjustments.unfilled),
      negativeLines(belowZero),
    ))
      log.warn(`${place}${line}`)
  }
  for (const line of warningsOf(stated)) log.warn(line)
  if (args.out !== undefined) log.info(`${formatCount(stated.lines.length, 'line')}: ${args.out}`)
  return manifests
}

/** States the period, and up to which block of the export its rows count. */
function periodLine(
  { period: { from, until } }: Statement,
  { newest, lastBlock }: Statement['exports'][number],
): string {
  const rows =
    newest === undefined ? 'no row counts' : `rows count up to block ${newest.block} (${newest.time})`
  const end = lastBlock < 0 ? 'the export contains no block' : `the export ends with block ${lastBlock}`
  return `from ${from} to ${until}: ${rows}; ${end}`
}

function warningsOf({ lines, period, currency }: Statement): string[] {
  const unknown = lines.filter((line) => decimalsOf(line) === null).length
  const unpriced = lines.filter(
    (line) => !isNft({ type: line.asset_type }) && Object.values(line.values).includes(null),
  ).length
  return presentLines(
    Date.parse(period.until) >= Date.now() &&
      'the period has not ended yet: the closing balances are those of the last exported block',
    unknown > 0 &&
      `${formatCount(unknown, 'line')} without amounts, because the decimals of the token are unknown: \`balances\` has the values`,
    currency !== undefined &&
      unpriced > 0 &&
      `${formatCount(unpriced, 'line')} with values that lack a price: see --prices-needed`,
  )
}

const printable = ({ columns, rows }: TextTable) =>
  printableTable(
    columns.map(({ name }) => name),
    rows,
  )

const COLUMNS = ['opening', 'received', 'sent', 'swapped', 'wrapped', 'fees', 'closing'] as const

/**
 * Builds the table of a statement for people, with rounded amounts. Swaps and wraps are net. With prices, the values follow
 * below the amounts.
 */
function displayTable({ lines, currency }: Statement): PrintableResult {
  const rows = lines.flatMap((line) => {
    const amounts = netOf(line.amounts).map((value) => displayAmount(value ?? 0n, line))
    const values = netOf(line.values)
    const isValued = currency !== undefined && values.some((value) => value !== null)
    return [
      [truncateMiddle(line.wallet_label ?? line.wallet_address, 14), nameOf(line), ...amounts],
      ...(isValued ? [['', `  in ${currency}`, ...values.map(displayValue)]] : []),
    ]
  })
  return printableTable(['wallet', 'asset', ...COLUMNS], rows, COLUMNS.length)
}

function nameOf(line: StatementLine): string {
  const symbol = truncateMiddle(line.asset_symbol ?? line.asset_type, 10)
  return line.token_id === null ? symbol : `${symbol} #${truncateMiddle(line.token_id, 9)}`
}

/** The amounts of the columns. An unknown one (null) makes a difference unknown. */
function netOf(amounts: Readonly<Record<AmountName, bigint | null>>): (bigint | null)[] {
  const net = (plus: bigint | null, minus: bigint | null) =>
    plus === null || minus === null ? null : plus - minus
  const { opening, received, sent, fees, closing } = amounts
  return [
    opening,
    received,
    sent,
    net(amounts.swapped_in, amounts.swapped_out),
    net(amounts.wrapped_in, amounts.wrapped_out),
    fees,
    closing,
  ]
}

/** Maximum length of an amount in the table, which has seven of them in a line. */
const MAX_LENGTH = 12

function displayAmount(value: bigint, line: StatementLine): string {
  if (value === 0n) return '0'
  const amount = wholeUnits(value, line)
  return amount === null ? `${roundAmount(String(value), MAX_LENGTH)} units` : roundAmount(amount, MAX_LENGTH)
}

/** A value in units of 10^-8, rounded to two decimal places; a dash if a price is missing. */
function displayValue(value: bigint | null): string {
  const exact = value === null ? null : shiftDecimal(String(value), FIAT_DECIMALS)
  if (exact === null) return '–'
  if (value === 0n) return '0'
  const text = roundDecimal(exact, 2)
  return text.length <= MAX_LENGTH ? text : roundAmount(exact, MAX_LENGTH)
}
