import { decimalsOf, type StatementLine } from '../../accounting/statement/ledger-sums.ts'
import {
  daysOfYear,
  onlyYear,
  parseStatementPeriod,
  type Statement,
  statement,
} from '../../accounting/statement/statement.ts'
import {
  entryTypeTable,
  NET_AMOUNTS,
  netAmounts,
  statementSheets,
  statementTable,
  type TextTable,
  totalOf,
  wholeUnits,
} from '../../accounting/statement/statement-rows.ts'
import { isNft } from '../../core/model/asset.ts'
import { chainOf } from '../../core/model/chains.ts'
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
  excludeSpamOption,
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
  excludeSpamOption,
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
  run: async ({ output: outputArgs, ...given }) => {
    const { currency, maxRequests, ...others } = given
    const located = await openOutputs(outputArgs, ['ledger'])
    const { from, until, opening, adjustments } = others
    // Prices are requested only for a statement that can be made.
    let settings = others
    if (parseStatementPeriod({ from, until, ...others.year }) === undefined)
      settings = { ...others, year: daysOfYear(await onlyYear(located.map(({ output }) => output))) }
    const period = { from, until, ...settings.year }
    const auto = { ...period, prices: settings.prices, opening, adjustments, currency, maxRequests }
    const prices = await priceFileOf(located, auto)
    await writeStatement(located, prices === undefined ? settings : { ...settings, prices })
  },
})

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
  if (format === 'xlsx') {
    const verdicts = await Promise.all(folders.map((output) => readReconciliation(output, args)))
    const lines = verdicts.flatMap(storedReconciliationLines)
    await file.writeBytes(await xlsxBytes(statementSheets(stated, lines)))
  } else {
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
    const verdict = await readReconciliation(output, args)
    if (verdict !== undefined) log.info(storedReconciliationLines(verdict))
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
  log.warn(warningsOf(stated))
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

function warningsOf({ lines, spamLines, period, currency }: Statement): string[] {
  const unknown = lines.filter((line) => decimalsOf(line) === null).length
  const unpriced = lines.filter(
    (line) => !isNft({ type: line.asset_type }) && Object.values(line.values).includes(null),
  ).length
  return presentLines(
    Date.parse(period.until) >= Date.now() &&
      'the period has not ended yet: the closing balances are those of the last exported block',
    spamLines > 0 &&
      `${formatCount(spamLines, 'line')} of spam tokens left out: \`balances --flags\` lists them`,
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

/** Columns that the table has only if a line has an amount in them. */
const OPTIONAL: ReadonlySet<string> = new Set(['own', 'income'])

/**
 * Builds the table of a statement for people, with rounded amounts. Own transfers, swaps and wraps are net. With prices, the values
 * follow below the amounts, and their totals at the end, with the number of lines that have them.
 */
function displayTable({ lines, currency }: Statement): PrintableResult {
  const hasChains = new Set(lines.map(({ chain_id }) => chain_id)).size > 1
  const columns = NET_AMOUNTS.filter(
    (name) => !OPTIONAL.has(name) || lines.some(({ amounts }) => netAmounts(amounts)[name] !== 0n),
  )
  const nameOf = assetNamer(lines)
  const lead = (wallet: string, asset: string, chain: string) => [
    wallet,
    ...(hasChains ? [chain] : []),
    asset,
  ]
  const rows = lines.flatMap((line) => {
    const [amounts, values] = [netAmounts(line.amounts), netAmounts(line.values)]
    const isValued = currency !== undefined && columns.some((name) => values[name] !== null)
    const wallet = truncateMiddle(line.wallet_label ?? line.wallet_address, 14)
    const chain = chainOf(line.chain_id)?.name ?? line.chain_id
    return [
      [
        ...lead(wallet, nameOf(line), chain),
        ...columns.map((name) => displayAmount(amounts[name] ?? 0n, line)),
      ],
      ...(isValued
        ? [[...lead('', `  in ${currency}`, ''), ...columns.map((name) => displayValue(values[name]))]]
        : []),
    ]
  })
  if (currency !== undefined && lines.length > 0) {
    const totals = columns.map((name) => totalOf(lines, name))
    rows.push([...lead('total', `  in ${currency}`, ''), ...totals.map(({ value }) => displayValue(value))])
    rows.push([...lead('', '  lines priced', ''), ...totals.map(({ priced, all }) => `${priced} of ${all}`)])
  }
  return printableTable(lead('wallet', 'asset', 'chain').concat(columns), rows, columns.length)
}

/** Names the assets of a table. Those of a chain with equal symbols get digits of their contracts. */
function assetNamer(lines: readonly StatementLine[]): (line: StatementLine) => string {
  const contracts = new Map<string, Set<string | null>>()
  const keyOf = ({ chain_id, asset_symbol, asset_type }: StatementLine) =>
    `${chain_id} ${asset_symbol ?? asset_type}`
  for (const line of lines)
    contracts.set(keyOf(line), (contracts.get(keyOf(line)) ?? new Set()).add(line.asset_address))
  return (line) => {
    const isShared = (contracts.get(keyOf(line))?.size ?? 0) > 1
    const digits = isShared && line.asset_address !== null ? ` ${line.asset_address.slice(0, 8)}` : ''
    const symbol = `${truncateMiddle(line.asset_symbol ?? line.asset_type, 10)}${digits}`
    return line.token_id === null ? symbol : `${symbol} #${truncateMiddle(line.token_id, 9)}`
  }
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
