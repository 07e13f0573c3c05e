import { ExportError } from '../../core/model/errors.ts'
import { BALANCE_COLUMNS } from '../../ledger/balances/balance-sums.ts'
import { type Balance, type Balances, balances, type FlaggedToken } from '../../ledger/balances/balances.ts'
import { compareExpected, type Difference } from '../../ledger/balances/compare-expected.ts'
import { readReconciliation } from '../../read/read-reconciliation.ts'
import { formatCount, limitLines } from '../../terminal/format.ts'
import { oneLine } from '../../terminal/log.ts'
import { storedReconciliationLines } from '../../terminal/reconciliation-lines.ts'
import { writeQueryResult } from '../../terminal/write-query-result.ts'
import { defineCommand, type OptionValues, option } from '../command.ts'
import {
  adjustmentLines,
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
  outputArgument,
  resultFormatOption,
  strictOption,
  walletOption,
} from '../options/export-options.ts'
import { openLog } from '../options/log.ts'
import { openOutput } from '../options/output-argument.ts'
import { stdoutWriter } from '../result-file.ts'
import { balanceCells, printableTable, roundAmount } from '../table-cells.ts'
import { usageError } from '../usage-error.ts'
import { throwIfDoubtful, warnIfIncomplete } from '../warn-incomplete.ts'

const options = [
  option('at <time>', 'After this block, at the end of this UTC day, or at this instant'),
  walletOption,
  openingOption,
  adjustmentsOption,
  option('expect <file>', 'CSV file of expected balances; exit code 10 if they differ'),
  namesOption('wallets without a label'),
  option('template', 'Print a CSV template for --opening or --expect instead'),
  option('flags', 'List probable spam tokens, with the reason'),
  option('all', 'Include balances of zero'),
  strictOption(AMOUNTS_DOUBTFUL),
  resultFormatOption,
]
type BalancesArguments = OptionValues<typeof options>

export const command = defineCommand({
  name: 'balances',
  summary: 'List the balance of each wallet and asset',
  description:
    'Sum the ledger by wallet and asset. Balances that were negative after a transaction are listed on stderr. The table rounds long amounts (≈); csv and json are exact.',
  arguments: [outputArgument],
  options,
  examples: [
    ['balances output/mine --at 2024-12-31', 'Balances at the end of a year'],
    ['balances output/mine --format csv > balances.csv', 'All columns, as a file'],
    ['balances output/mine --template > opening.csv', 'A template for opening balances'],
    ['balances output/mine --opening opening.csv --expect node.csv', 'Compare with the balances of a node'],
  ],
  run: async ({ output: outputArg, ...args }) => {
    const { output } = await openOutput(outputArg, ['ledger'])
    const { at, wallet: wallets = [], opening, adjustments, expect, all = false, flags, format } = args
    if (args.template === true) return writeTemplate(output, args)
    const result = await balances(output, { ...args, wallets, all: all || expect !== undefined })
    const shown = result.balances.filter(({ value }) => all || value !== 0n)
    const comparison =
      expect === undefined ? undefined : await compareExpected(result.balances, expect, result.wallets)
    const table = format === 'table' ? displayTable(shown) : exactTable(shown)
    await writeQueryResult(table, format, stdoutWriter())
    const manifest = await warnIfIncomplete(output)
    const log = openLog({})
    const verdict = await readReconciliation(output, args)
    if (verdict !== undefined) log.info(storedReconciliationLines(verdict))
    if (at !== undefined) log.info(asOfLine(at, result))
    log.info(adjustmentLines(adjustments, result.adjustments))
    await warnUnmatched([output], args)
    log.warn([
      ...openingLines(opening, result.opening),
      ...unfilledLines(adjustments, result.adjustments.unfilled),
      ...unfilledLines(expect, comparison?.unfilled ?? 0),
      ...negativeLines(result.belowZero),
      ...(flags ? result.flagged.map(flagLine) : []),
    ])
    const { differences = [], compared = 0 } = comparison ?? {}
    if (differences.length === 0) {
      if (comparison !== undefined)
        log.info(`${formatCount(compared, 'balance')} compared with ${expect}: all equal`)
      return throwIfDoubtful([manifest], args)
    }
    log.warn(
      limitLines(
        differences,
        MAX_PRINTED,
        (difference) => `${expect}:${differenceText(difference)}`,
        (more) => `and ${formatCount(more, 'more difference')}`,
      ),
    )
    const verb = differences.length === 1 ? 'differs' : 'differ'
    throw new ExportError(
      'VERIFY_FAILED',
      `${formatCount(differences.length, 'balance')} of ${compared} ${verb} from ${expect}`,
      {
        fix: 'Check the balances listed above: add missing opening balances with --opening, or correct the file.',
      },
    )
  },
})

/** Differences that are printed; the number of all of them is in the error. */
const MAX_PRINTED = 1_000

/**
 * Writes a CSV template with the columns of `--format csv` and empty values and amounts. It has one line for the native
 * coin of each wallet, and one for each other balance.
 */
async function writeTemplate(
  output: string,
  { at, wallet = [], opening, names, expect }: BalancesArguments,
): Promise<void> {
  if (typeof opening === 'string' || expect !== undefined)
    throw usageError(
      '--template reads no file of amounts',
      'Leave --opening and --expect out: the template is what they read, once it is filled in.',
    )
  const result = await balances(output, { at, wallets: wallet, names, all: true })
  const rows = result.wallets.flatMap(({ address, label }) => {
    const own = result.balances.filter(({ wallet_address }) => wallet_address === address)
    const symbol = own.find(({ asset_type }) => asset_type === 'native')?.asset_symbol ?? null
    const others = own.filter(({ asset_type }) => asset_type !== 'native')
    return [
      [address, label, 'native', null, symbol, null, null, null],
      ...others.map((balance) =>
        COLUMNS.map((name) => (name === 'value' || name === 'amount' ? null : balance[name])),
      ),
    ]
  })
  await writeQueryResult(printableTable(COLUMNS, rows), 'csv', stdoutWriter())
  openLog({}).info('fill in amount (whole units) or value (smallest unit); lines with neither are skipped')
}

const COLUMNS = [...BALANCE_COLUMNS, 'value', 'amount'] as const satisfies readonly (keyof Balance)[]

/** Builds a table with all columns. Numbers are exact text. */
function exactTable(balances: readonly Balance[]) {
  const rows = balances.map((balance) =>
    COLUMNS.map((name) => (name === 'value' ? String(balance.value) : balance[name])),
  )
  return printableTable(COLUMNS, rows)
}

/** Builds a table with the most important columns, within 80 characters. */
function displayTable(balances: readonly Balance[]) {
  const rows = balances.map((balance) => [
    ...balanceCells(balance),
    balance.amount === null ? `${roundAmount(String(balance.value))} units` : roundAmount(balance.amount),
  ])
  return printableTable(['wallet', 'asset', 'contract', 'token', 'amount'], rows, 1)
}

/** Describes how `--at` was applied. After the end of the export, the balances are those at its end. */
function asOfLine(at: string, { newest, lastBlock }: Balances): string {
  const message =
    newest === undefined ? 'no row counts' : `rows count up to block ${newest.block} (${newest.time})`
  return `--at ${at}: ${message}; the export ends with block ${lastBlock}`
}

function flagLine({ asset_address, asset_symbol, flags }: FlaggedToken): string {
  const reasons = flags.map(({ rule, why: reason }) => `${rule} (${reason})`).join(', ')
  return `${oneLine(asset_symbol ?? 'a token')} ${asset_address}: ${oneLine(reasons)}`
}

function differenceText({ line, expected, found, ...balance }: Difference): string {
  const { wallet_address, asset_type, asset_address, token_id } = balance
  const asset = [asset_type, asset_address, token_id].filter((part) => part !== null).join(' ')
  return `${line}: ${wallet_address} ${asset}: expected ${expected}, found ${found}`
}
