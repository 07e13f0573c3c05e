import { type Statement, statement } from '../../accounting/statement/statement.ts'
import { decimalsOf } from '../../accounting/statement/statement-lines.ts'
import {
  entryTypeTable,
  statementSheets,
  statementTable,
  type TextTable,
} from '../../accounting/statement/statement-rows.ts'
import { isNft } from '../../core/model/asset.ts'
import type { Manifest } from '../../core/model/manifest.ts'
import { xlsxBytes } from '../../core/platform/xlsx.ts'
import { readReconciliation } from '../../read/read-reconciliation.ts'
import { formatCount } from '../../terminal/format.ts'
import { storedReconciliationLines } from '../../terminal/reconciliation-lines.ts'
import { type PrintableResult, RESULT_FORMATS, writeQueryResult } from '../../terminal/write-query-result.ts'
import { defineCommand, defineOptions, type OptionValues } from '../command.ts'
import { negativeLines } from '../negative-lines.ts'
import { chooseFormat, fileOf } from '../options/file-format.ts'
import { openLog } from '../options/log.ts'
import { openingLines, openingOptions } from '../options/opening-option.ts'
import { type LocatedOutput, OUTPUT_OR_JOB, openOutput } from '../options/output-argument.ts'
import { periodOptions, resolveYear } from '../options/period-options.ts'
import { emptyPeriodLine } from '../report-conversion.ts'
import { openResultFile } from '../result-file.ts'
import { statementDisplayTable } from '../statement-table.ts'
import { singleBatch } from '../table-cells.ts'
import { strictOption, throwIfDoubtful, warnIfIncomplete } from '../warn-incomplete.ts'
import { warnUnmatched } from '../warn-unmatched.ts'
import { PRICE_TEMPLATE, writeCsvTemplate } from '../write-csv-template.ts'

const FORMATS = [...RESULT_FORMATS, 'xlsx'] as const

const options = defineOptions([
  ...periodOptions,
  {
    name: 'wallet',
    value: '<address>',
    repeatable: true,
    description: 'Only this wallet, by address or label (repeatable)',
  },
  ...openingOptions,
  {
    name: 'names',
    value: '<file>',
    description: 'CSV file (address,name) that names wallets without a label',
  },
  {
    name: 'prices',
    value: '<file>',
    description: 'CSV file of prices (date,asset,currency,price; chain for several chains) for fiat values',
  },
  { name: 'prices-needed', description: 'Print a CSV template for --prices instead' },
  {
    name: 'entry-types',
    description: 'List the totals of each entry type instead (XLSX always contains them)',
  },
  strictOption,
  {
    name: 'format',
    value: '<format>',
    choices: FORMATS,
    description: 'Output format (default: the one that the ending of --out names, or table)',
  },
  { name: 'out', value: '<file>', description: 'File to write, such as 2024.xlsx (default: stdout)' },
])
type StatementArguments = OptionValues<typeof options>

export const command = defineCommand({
  name: 'statement',
  summary: 'State balances and flows of a year, by wallet and asset',
  description:
    'State the opening balance of each wallet and asset, what was received, sent, swapped, wrapped and paid as fees in a period, and the closing balance. The table rounds long amounts (≈) and values; the other formats are exact.',
  arguments: [
    {
      name: 'output',
      required: true,
      repeatable: true,
      description: `${OUTPUT_OR_JOB}; several, such as one per chain, are combined`,
    },
  ],
  options,
  examples: [
    ['statement output/mine --year 2024', 'A calendar year (UTC)'],
    ['statement output/mine --from 2024-04-01 --until 2025-03-31 --format csv', 'Another period, exact'],
    ['statement output/mine --year 2024 --out 2024.xlsx', 'A workbook'],
    ['statement output/avalanche output/ethereum --year 2024 --format csv', 'Several chains'],
  ],
  run: ({ output, ...args }) => printStatement(output, args),
})

async function printStatement(outputArgs: string[], args: StatementArguments): Promise<void> {
  const { wallet: wallets = [], pricesNeeded: onlyPriceTemplate = false, format: given, ...rest } = args
  const out = fileOf(args.out)
  const located: LocatedOutput[] = []
  for (const outputArg of new Set(outputArgs)) located.push(await openOutput(outputArg, ['ledger']))
  const folders = located.map(({ output }) => output) as [string, ...string[]]
  const protectedPaths = {
    inputs: { '--prices': args.prices, '--opening': args.opening || undefined, '--names': args.names },
    exports: folders,
  }
  if (onlyPriceTemplate) {
    const collect = async () =>
      (await statement(folders, { ...rest, wallets, collectsNeeded: true })).pricesNeeded
    return writeCsvTemplate(PRICE_TEMPLATE, { collect, out, protectedPaths })
  }
  const format = chooseFormat(out, { given, formats: FORMATS, fallback: 'table', fixes: PAGE_FIXES })
  const file = await openResultFile({ out, protectedPaths, isBinary: format === 'xlsx' })
  const stated = await statement(folders, { ...rest, wallets })
  if (format === 'xlsx') await file.writeBytes(await xlsxBytes(statementSheets(stated)))
  else {
    const exact = () => printable(args.entryTypes ? entryTypeTable(stated) : statementTable(stated))
    const table = format === 'table' && !args.entryTypes ? statementDisplayTable(stated) : exact()
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
  for (const [at, one] of stated.exports.entries()) {
    const { output, name } = located[at] as LocatedOutput
    manifests.push(await warnIfIncomplete(output))
    const verdict = await readReconciliation(output)
    if (verdict !== undefined) for (const line of storedReconciliationLines(verdict)) log.info(line)
    const place = stated.exports.length > 1 ? `${name}: ` : ''
    log.info(`${place}${periodLine(stated, one)}`)
    const empty = one.ledgerTimeRange && emptyPeriodLine(one.ledgerTimeRange, resolveYear(args))
    for (const line of [
      empty ?? [],
      openingLines(args.opening, one.opening),
      negativeLines(one.belowZero),
    ].flat())
      log.warn(`${place}${line}`)
  }
  for (const line of warningsOf(stated)) log.warn(line)
  const out = fileOf(args.out)
  if (out !== undefined) log.info(`${formatCount(stated.lines.length, 'line')}: ${out}`)
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
  return [
    ...(Date.parse(period.until) >= Date.now()
      ? ['the period has not ended yet: the closing balances are those of the last exported block']
      : []),
    ...(unknown === 0
      ? []
      : [
          `${formatCount(unknown, 'line')} without amounts, because the decimals of the token are unknown: \`balances\` has the values`,
        ]),
    ...(currency === undefined || unpriced === 0
      ? []
      : [`${formatCount(unpriced, 'line')} with values that lack a price: see --prices-needed`]),
  ]
}

const printable = ({ columns, rows }: TextTable): PrintableResult => ({
  columns: columns.map(({ name }) => ({ name, isNumber: false })),
  batches: singleBatch(rows),
})
