import { ExportError } from '../../core/model/errors.ts'
import { type Balance, type Balances, balances, type FlaggedToken } from '../../ledger/balances/balances.ts'
import { compareExpected, type Difference } from '../../ledger/balances/compare-expected.ts'
import { readReconciliation } from '../../read/read-reconciliation.ts'
import { formatCount } from '../../terminal/format.ts'
import { oneLine } from '../../terminal/log.ts'
import { storedReconciliationLines } from '../../terminal/reconciliation-lines.ts'
import { type PrintableResult, RESULT_FORMATS, writeQueryResult } from '../../terminal/write-query-result.ts'
import { defineCommand, defineOptions, type OptionValues } from '../command.ts'
import { negativeLines } from '../negative-lines.ts'
import { openLog } from '../options/log.ts'
import { openingLines, openingOptions, unfilledLines } from '../options/opening-option.ts'
import { OUTPUT_OR_JOB, openOutput } from '../options/output-argument.ts'
import { stdoutWriter } from '../stdout-writer.ts'
import { roundAmount, singleBatch, truncateMiddle } from '../table-cells.ts'
import { strictOption, throwIfDoubtful, warnIfIncomplete } from '../warn-incomplete.ts'
import { warnUnmatched } from '../warn-unmatched.ts'

const options = defineOptions([
  {
    name: 'at',
    value: '<time>',
    description: 'After this block, at the end of this UTC day, or at this instant',
  },
  {
    name: 'wallet',
    value: '<address>',
    repeatable: true,
    description: 'Only this wallet, by address or label (repeatable)',
  },
  ...openingOptions,
  {
    name: 'expect',
    value: '<file>',
    description: 'CSV file of expected balances; exit code 10 if they differ',
  },
  {
    name: 'names',
    value: '<file>',
    description: 'CSV file (address,name) that names wallets without a label',
  },
  { name: 'template', description: 'Print a CSV template for --opening or --expect instead' },
  { name: 'flags', description: 'List probable spam tokens, with the reason' },
  { name: 'all', description: 'Include balances of zero' },
  strictOption,
  {
    name: 'format',
    value: '<format>',
    choices: RESULT_FORMATS,
    default: 'table',
    description: 'Output format',
  },
])
type BalancesArguments = OptionValues<typeof options>

export const command = defineCommand({
  name: 'balances',
  summary: 'List the balance of each wallet and asset',
  description:
    'Sum the ledger by wallet and asset. Balances that were negative after a transaction are listed on stderr. The table rounds long amounts (≈); csv and json are exact.',
  arguments: [{ name: 'output', required: true, description: OUTPUT_OR_JOB }],
  options,
  examples: [
    ['balances output/mine --at 2024-12-31', 'Balances at the end of a year'],
    ['balances output/mine --format csv > balances.csv', 'All columns, as a file'],
    ['balances output/mine --template > opening.csv', 'A template for opening balances'],
    ['balances output/mine --opening opening.csv --expect node.csv', 'Compare with the balances of a node'],
  ],
  run: ({ output, ...args }) => printBalances(output, args),
})

async function printBalances(outputArg: string, args: BalancesArguments): Promise<void> {
  const { output } = await openOutput(outputArg, ['ledger'])
  const { at, wallet: wallets = [], opening, names, expect, all = false, flags = false, format } = args
  if (args.template === true) return writeTemplate(output, args)
  const result = await balances(output, { at, wallets, opening, names, all: all || expect !== undefined })
  const shown = result.balances.filter(({ value }) => all || value !== 0n)
  const comparison =
    expect === undefined ? undefined : await compareExpected(result.balances, expect, result.wallets)
  const table = format === 'table' ? displayTable(shown) : exactTable(shown)
  await writeQueryResult(table, format, stdoutWriter())
  const manifest = await warnIfIncomplete(output)
  const log = openLog({})
  const verdict = await readReconciliation(output)
  if (verdict !== undefined) for (const line of storedReconciliationLines(verdict)) log.info(line)
  if (at !== undefined) log.info(asOfLine(at, result))
  await warnUnmatched([output], { names })
  const unfilled = [
    ...openingLines(opening, result.opening),
    ...unfilledLines(expect, comparison?.unfilled ?? 0),
  ]
  for (const line of unfilled) log.warn(line)
  for (const line of negativeLines(result.belowZero)) log.warn(line)
  if (flags) for (const token of result.flagged) log.warn(flagLine(token))
  if (comparison === undefined) return throwIfDoubtful([manifest], args)
  const { differences } = comparison
  if (differences.length === 0) {
    log.info(`${formatCount(comparison.compared, 'balance')} compared with ${expect}: all equal`)
    return throwIfDoubtful([manifest], args)
  }
  for (const difference of differences.slice(0, MAX_PRINTED))
    log.warn(differenceLine(difference, expect as string))
  if (differences.length > MAX_PRINTED)
    log.warn(`and ${formatCount(differences.length - MAX_PRINTED, 'more difference')}`)
  throw new ExportError(
    'VERIFY_FAILED',
    `${formatCount(differences.length, 'balance')} of ${comparison.compared} ${differences.length === 1 ? 'differs' : 'differ'} from ${expect}`,
    {
      fix: 'Check the balances listed above: add missing opening balances with --opening, or correct the file.',
    },
  )
}

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
    throw new ExportError('USAGE', '--template reads no file of amounts', {
      fix: 'Leave --opening and --expect out: the template is what they read, once it is filled in.',
    })
  const result = await balances(output, { at, wallets: wallet, names, all: true })
  const rows = result.wallets.flatMap(({ address, label }) => {
    const [nativeCoin, others] = [true, false].map((isCoin) =>
      result.balances.filter(
        ({ wallet_address, asset_type }) =>
          wallet_address === address && (asset_type === 'native') === isCoin,
      ),
    )
    const symbol = nativeCoin?.[0]?.asset_symbol ?? null
    return [
      [address, label, 'native', null, symbol, null, null, null],
      ...(others ?? []).map((balance) =>
        BALANCE_COLUMNS.map((name) => (name === 'value' || name === 'amount' ? null : balance[name])),
      ),
    ]
  })
  const columns = BALANCE_COLUMNS.map((name) => ({ name, isNumber: false }))
  await writeQueryResult({ columns, batches: singleBatch(rows) }, 'csv', stdoutWriter())
  openLog({}).info('fill in amount (whole units) or value (smallest unit); lines with neither are skipped')
}

const BALANCE_COLUMNS = [
  'wallet_address',
  'wallet_label',
  'asset_type',
  'asset_address',
  'asset_symbol',
  'token_id',
  'value',
  'amount',
] as const satisfies readonly (keyof Balance)[]

/** Builds a table with all columns. Numbers are exact text. */
function exactTable(balances: readonly Balance[]): PrintableResult {
  const rows = balances.map((balance) =>
    BALANCE_COLUMNS.map((name) => (name === 'value' ? String(balance.value) : balance[name])),
  )
  return { columns: BALANCE_COLUMNS.map((name) => ({ name, isNumber: false })), batches: singleBatch(rows) }
}

/** Builds a table with the most important columns, within 80 characters. */
function displayTable(balances: readonly Balance[]): PrintableResult {
  const rows = balances.map((balance) => [
    truncateMiddle(balance.wallet_label ?? balance.wallet_address, 14),
    truncateMiddle(balance.asset_symbol ?? balance.asset_type, 10),
    balance.asset_address === null ? null : truncateMiddle(balance.asset_address, 11),
    balance.token_id === null ? null : truncateMiddle(balance.token_id, 11),
    balance.amount === null ? `${roundAmount(String(balance.value))} units` : roundAmount(balance.amount),
  ])
  const columns = ['wallet', 'asset', 'contract', 'token', 'amount']
  return {
    columns: columns.map((name) => ({ name, isNumber: name === 'amount' })),
    batches: singleBatch(rows),
  }
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

function differenceLine({ line, expected, found, ...balance }: Difference, file: string): string {
  const { wallet_address, asset_type, asset_address, token_id } = balance
  const asset = [asset_type, asset_address, token_id].filter((part) => part !== null).join(' ')
  return `${file}:${line}: ${wallet_address} ${asset}: expected ${expected}, found ${found}`
}
