import { APIS } from '../../core/model/api.ts'
import { csvRows } from '../../core/platform/csv-rows.ts'
import { writeNamedFile } from '../../core/platform/user-file.ts'
import { BALANCE_COLUMNS } from '../../ledger/balances/balance-sums.ts'
import { formatCount, limitLines } from '../../terminal/format.ts'
import { type Log, oneLine } from '../../terminal/log.ts'
import { print } from '../../terminal/print.ts'
import { shellQuote } from '../../terminal/shell-quote.ts'
import { writeQueryResult } from '../../terminal/write-query-result.ts'
import { ADJUSTMENT_COLUMNS, proposeAdjustments } from '../../verify/reconcile/propose-adjustments.ts'
import { REBASE_PERIODS } from '../../verify/reconcile/rebase-income.ts'
import type { ReconcileResult } from '../../verify/reconcile/reconcile.ts'
import type { ReconciledBalance } from '../../verify/reconcile/verdict.ts'
import { defineCommand, option } from '../command.ts'
import { openingLines } from '../file-warnings.ts'
import {
  adjustmentsOption,
  openingOption,
  outputArgument,
  resultFormatOption,
  walletOption,
} from '../options/export-options.ts'
import { logOptions } from '../options/log.ts'
import { type LocatedOutput, openOutput } from '../options/output-argument.ts'
import { count } from '../options/parsers.ts'
import { serviceOptions, withService } from '../options/service.ts'
import { acceptOption, reconcileAndStore, verdictError, verdictLines } from '../reconcile-jobs.ts'
import { chooseFormat, exists, stdoutWriter } from '../result-file.ts'
import { STARTS_OVER } from '../signals.ts'
import { balanceCells, printableTable, roundAmount } from '../table-cells.ts'
import { usageError } from '../usage-error.ts'

export const command = defineCommand({
  name: 'reconcile',
  summary: 'Compare the ledger with the balances that the service reports',
  description:
    'Compare the ledger of each wallet with the balances that the service reports after the last exported block; exit code 0 or 10. Where the native coin differs, find the first transaction after which it does. The verdict is stored as reconciliation.json in the output.',
  arguments: [outputArgument],
  options: [
    ...serviceOptions,
    option(
      'api <name>',
      'API of the service (default: that of the export, or of a known host); or set WALLETLAKE_API',
      { choices: APIS },
    ),
    walletOption,
    option('sample <n>', 'Only this number of wallets, always the same ones', { parse: count() }),
    openingOption,
    adjustmentsOption,
    acceptOption,
    option(
      'write-adjustments <file>',
      'Write a new file for --adjustments that closes each difference, to check and complete',
    ),
    option(
      'rebase-by <period>',
      'With --write-adjustments: divide what rebasing tokens grew by (default: year; one request per wallet and period)',
      { choices: REBASE_PERIODS },
    ),
    option('max-requests <n>', 'Stop after this many requests, with exit code 9 and without a verdict', {
      parse: count(),
    }),
    option('bisect', 'Do not search for the transaction with which a difference begins', { negatable: true }),
    option('all', 'Include balances that agree'),
    resultFormatOption,
    ...logOptions,
  ],
  examples: [
    ['reconcile output/mine', 'Compare all wallets'],
    ['reconcile output/mine --sample 50', 'Compare 50 wallets, with a fraction of the requests'],
    ['reconcile output/mine --opening opening.csv', 'With balances that no exported block shows'],
    ['reconcile output/mine --format csv > differences.csv', 'All columns, as a file'],
    ['reconcile output/mine --accept differences.csv', 'Without an error for these differences'],
    ['reconcile output/mine --write-adjustments adjustments.csv', 'A proposal for the books'],
  ],
  run: async ({ output: outputArg, ...args }) => {
    const { wallet: wallets = [], opening, writeAdjustments: proposal, rebaseBy, format, quiet } = args
    if (proposal !== undefined) await requireNewFile(proposal)
    else if (rebaseBy !== undefined)
      throw usageError('--rebase-by divides what --write-adjustments writes', 'Add --write-adjustments FILE.')
    const located = await openOutput(outputArg, ['ledger', 'transactions'])
    const access = { args, operation: 'balances', interruption: STARTS_OVER } as const
    await withService(located, access, async ({ service, log }) => {
      const request = {
        ...args,
        service: { ...service, maxRequests: args.maxRequests },
        wallets,
        rebaseBy: proposal === undefined ? undefined : (rebaseBy ?? 'year'),
      }
      const result = await reconcileAndStore(located, request, log)
      log.warn(openingLines(opening, result.opening))
      const isTable = format === 'table'
      const table = isTable ? displayTable(result.rows) : exactTable(result.rows)
      if (!isTable || result.rows.length > 0) await writeQueryResult(table, format, stdoutWriter())
      const lines = [...(isTable ? causeLines(result) : []), ...verdictLines(result)]
      if (isTable && !quiet) print(lines)
      else log.info(lines)
      if (proposal !== undefined) await propose(proposal, located, result, log)
      const error = verdictError(result, located.name, isTable ? LISTED_FIX : COLUMN_FIX)
      if (error !== undefined) throw error
    })
  },
})

/** A file that exists may contain lines of the user. */
async function requireNewFile(file: string): Promise<void> {
  chooseFormat(file, { formats: ['csv'], fallback: 'csv' })
  if (await exists(file))
    throw usageError(
      `${file} already exists and may contain adjustments that you made`,
      `Name another file with --write-adjustments; with --adjustments ${shellQuote(file)} only what remains is written.`,
    )
}

async function propose(
  file: string,
  { output }: LocatedOutput,
  result: ReconcileResult,
  log: Log,
): Promise<void> {
  const lines = await proposeAdjustments(output, result)
  await writeNamedFile(file, csvRows([ADJUSTMENT_COLUMNS, ...lines]))
  log.info(`${formatCount(lines.length, 'adjustment')} proposed: check type and time of each in ${file}`)
}

const NEXT = 'then run this command again'
const LISTED_FIX = `Do what the likely causes above say for the native coin and for tokens that you use, ${NEXT}.`
const COLUMN_FIX = `Do what the column likely_cause says for the native coin and for tokens that you use, ${NEXT}.`

const COLUMNS = [
  ...BALANCE_COLUMNS,
  'ledger_value',
  'service_value',
  'difference',
  'likely_cause',
] as const satisfies readonly (keyof ReconciledBalance)[]

/** Builds a table with all columns. Numbers are exact text. */
function exactTable(rows: readonly ReconciledBalance[]) {
  const cells = rows.map((row) =>
    COLUMNS.map((name) => {
      const value = row[name]
      return typeof value === 'bigint' ? String(value) : value
    }),
  )
  return printableTable(COLUMNS, cells)
}

/** Builds a table with the most important columns, in the smallest units. */
function displayTable(rows: readonly ReconciledBalance[]) {
  const cells = rows.map((row) => [
    ...balanceCells(row),
    ...[row.ledger_value, row.service_value, row.difference].map((value) => roundAmount(String(value))),
  ])
  return printableTable(['wallet', 'asset', 'contract', 'token', 'ledger', 'service', 'difference'], cells, 3)
}

/** Maximum number of likely causes that are listed. */
const MAX_CAUSES = 20

/** Lists the likely causes, each once per asset. */
function causeLines({ rows }: ReconcileResult): string[] {
  const causes = new Map<string, Set<string>>()
  for (const row of rows) {
    if (row.likely_cause === null) continue
    const key = `${assetLabel(row)}: ${row.likely_cause}`
    causes.set(key, (causes.get(key) ?? new Set()).add(row.wallet_label ?? row.wallet_address))
  }
  const lines = limitLines(
    [...causes],
    MAX_CAUSES,
    ([cause, wallets]) => {
      const [first = ''] = wallets
      return `${wallets.size === 1 ? oneLine(first) : formatCount(wallets.size, 'wallet')}, ${cause}`
    },
    (more) => `and ${more} more (--format csv)`,
  )
  return lines.length === 0 ? [] : ['Likely causes:', ...lines, '']
}

function assetLabel({ asset_symbol, asset_type, asset_address }: ReconciledBalance): string {
  const contract = asset_address === null ? '' : ` (${asset_address})`
  return `${oneLine(asset_symbol ?? asset_type)}${contract}`
}
