import { APIS } from '../../core/model/api.ts'
import { formatCount } from '../../terminal/format.ts'
import { oneLine } from '../../terminal/log.ts'
import { print } from '../../terminal/print.ts'
import { type PrintableResult, RESULT_FORMATS, writeQueryResult } from '../../terminal/write-query-result.ts'
import type { ReconcileResult } from '../../verify/reconcile/reconcile.ts'
import type { ReconciledBalance } from '../../verify/reconcile/verdict.ts'
import { defineCommand, defineOptions, type OptionValues } from '../command.ts'
import { logOptions, withSignals } from '../options/log.ts'
import { openingLines, openingOptions } from '../options/opening-option.ts'
import { readCount } from '../options/option-parsers.ts'
import { OUTPUT_OR_JOB, openOutput } from '../options/output-argument.ts'
import { readAccessOfOutput, serviceOptions } from '../options/service.ts'
import { acceptOptions, reconcileAndStore, verdictError, verdictLines } from '../reconcile-output.ts'
import { STARTS_OVER } from '../signals.ts'
import { stdoutWriter } from '../stdout-writer.ts'
import { roundAmount, singleBatch, truncateMiddle } from '../table-cells.ts'

const options = defineOptions([
  ...serviceOptions,
  {
    name: 'api',
    value: '<name>',
    choices: APIS,
    description:
      'API of the service (default: that of the export, or of a known host); or set WALLETLAKE_API',
  },
  {
    name: 'wallet',
    value: '<address>',
    repeatable: true,
    description: 'Only this wallet, by address or label (repeatable)',
  },
  { name: 'sample', value: '<n>', description: 'Only this number of wallets, always the same ones' },
  ...openingOptions,
  ...acceptOptions,
  {
    name: 'bisect',
    negatable: true,
    description: 'Do not search for the transaction with which a difference begins',
  },
  { name: 'all', description: 'Include balances that agree' },
  {
    name: 'format',
    value: '<format>',
    choices: RESULT_FORMATS,
    default: 'table',
    description: 'Output format',
  },
  ...logOptions,
])
type ReconcileArguments = OptionValues<typeof options>

export const command = defineCommand({
  name: 'reconcile',
  summary: 'Compare the ledger with the balances that the service states',
  description:
    'Compare the ledger of each wallet with the balances that the service states after the last exported block; exit code 0 or 10. Where the native coin differs, find the first transaction after which it does. The verdict is stored as reconciliation.json in the output.',
  arguments: [{ name: 'output', required: true, description: OUTPUT_OR_JOB }],
  options,
  examples: [
    ['reconcile output/mine', 'Compare all wallets'],
    ['reconcile output/mine --sample 50', 'Compare 50 wallets, with a fraction of the requests'],
    ['reconcile output/mine --opening opening.csv', 'With balances that no exported block shows'],
    ['reconcile output/mine --format csv > differences.csv', 'All columns, as a file'],
    ['reconcile output/mine --accept differences.csv', 'Without an error for these differences'],
  ],
  run: ({ output, ...args }) => reconcile(output, args),
})

async function reconcile(outputArg: string, args: ReconcileArguments): Promise<number> {
  const { wallet: wallets = [], opening, accept, all, bisect, format, quiet = false } = args
  const sample = readCount('sample', args.sample)
  const located = await openOutput(outputArg, ['ledger', 'transactions'])
  return withSignals({ ...args, interruption: STARTS_OVER }, async ({ log, signal }) => {
    const access = await readAccessOfOutput(located, { args, operation: 'balances', onNotice: log.info })
    const request = { access, signal, wallets, sample, opening, accept, all, bisect }
    const result = await reconcileAndStore(located, request, log)
    for (const line of openingLines(opening, result.opening)) log.warn(line)
    const lines = [...(format === 'table' ? causeLines(result) : []), ...verdictLines(result)]
    if (format !== 'table') await writeQueryResult(exactTable(result.rows), format, stdoutWriter())
    else if (result.rows.length > 0) await writeQueryResult(displayTable(result.rows), format, stdoutWriter())
    if (format === 'table' && !quiet) print(lines)
    else for (const line of lines) log.info(line)
    const error = verdictError(result, located.name, format === 'table' ? LISTED_FIX : COLUMN_FIX)
    if (error !== undefined) log.failure(error)
    return error?.failure.exit ?? 0
  })
}

const NEXT = 'then run this command again'
const LISTED_FIX = `Do what the likely causes above say for the native coin and for tokens that you use, ${NEXT}.`
const COLUMN_FIX = `Do what the column likely_cause says for the native coin and for tokens that you use, ${NEXT}.`

const COLUMNS = [
  'wallet_address',
  'wallet_label',
  'asset_type',
  'asset_address',
  'asset_symbol',
  'token_id',
  'ledger_value',
  'service_value',
  'difference',
  'likely_cause',
] as const satisfies readonly (keyof ReconciledBalance)[]

const NUMBERS: ReadonlySet<string> = new Set(['ledger_value', 'service_value', 'difference'])

/** Builds a table with all columns. Numbers are exact text. */
function exactTable(rows: readonly ReconciledBalance[]): PrintableResult {
  const cells = rows.map((row) => COLUMNS.map((name) => (NUMBERS.has(name) ? String(row[name]) : row[name])))
  return {
    columns: COLUMNS.map((name) => ({ name, isNumber: false })),
    batches: singleBatch(cells as (string | null)[][]),
  }
}

/** Builds a table with the most important columns, in the smallest units. */
function displayTable(rows: readonly ReconciledBalance[]): PrintableResult {
  const cells = rows.map((row) => [
    truncateMiddle(row.wallet_label ?? row.wallet_address, 14),
    truncateMiddle(row.asset_symbol ?? row.asset_type, 10),
    row.asset_address === null ? null : truncateMiddle(row.asset_address, 11),
    row.token_id === null ? null : truncateMiddle(row.token_id, 11),
    ...[row.ledger_value, row.service_value, row.difference].map((value) => roundAmount(String(value))),
  ])
  const columns = ['wallet', 'asset', 'contract', 'token', 'ledger', 'service', 'difference']
  return {
    columns: columns.map((name, at) => ({ name, isNumber: at >= 4 })),
    batches: singleBatch(cells),
  }
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
  const lines = [...causes].map(([cause, wallets]) => {
    const [first = ''] = wallets
    return `${wallets.size === 1 ? oneLine(first) : formatCount(wallets.size, 'wallet')}, ${cause}`
  })
  const more = lines.length > MAX_CAUSES ? [`and ${lines.length - MAX_CAUSES} more (--format csv)`] : []
  return lines.length === 0 ? [] : ['Likely causes:', ...lines.slice(0, MAX_CAUSES), ...more, '']
}

function assetLabel({ asset_symbol, asset_type, asset_address }: ReconciledBalance): string {
  const contract = asset_address === null ? '' : ` (${asset_address})`
  return `${oneLine(asset_symbol ?? asset_type)}${contract}`
}
