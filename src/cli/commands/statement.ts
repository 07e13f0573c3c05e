import type { FlowName } from '../../accounting/statement/flows.ts'
import { type Statement, type StatementLine, statement } from '../../accounting/statement/statement.ts'
import {
  decimalsOf,
  entryTypeTable,
  statementTable,
  type TextTable,
  wholeUnits,
} from '../../accounting/statement/statement-rows.ts'
import { readReconciliation } from '../../read/read-reconciliation.ts'
import { formatCount } from '../../terminal/format.ts'
import { storedReconciliationLines } from '../../terminal/reconciliation-lines.ts'
import { type PrintableResult, RESULT_FORMATS, writeQueryResult } from '../../terminal/write-query-result.ts'
import { defineCommand, defineOptions, type OptionValues } from '../command.ts'
import { negativeLines } from '../negative-lines.ts'
import { openLog } from '../options/log.ts'
import { type LocatedOutput, OUTPUT_OR_JOB, openOutput } from '../options/output-argument.ts'
import { stdoutWriter } from '../stdout-writer.ts'
import { roundAmount, singleBatch, truncateMiddle } from '../table-cells.ts'
import { warnIfIncomplete } from '../warn-incomplete.ts'

const options = defineOptions([
  { name: 'year', value: '<year>', description: 'UTC year', conflicts: ['from', 'until'] },
  { name: 'from', value: '<date>', description: 'Start at this UTC day or instant' },
  { name: 'until', value: '<date>', description: 'Stop at the end of this UTC day, or at this instant' },
  {
    name: 'wallet',
    value: '<address>',
    repeatable: true,
    description: 'Only this wallet, by address or label (repeatable)',
  },
  {
    name: 'opening',
    value: '<file>',
    description: 'CSV file of opening balances, as for `balances`; for one output',
  },
  { name: 'entry-types', description: 'List the totals of each entry type instead' },
  {
    name: 'format',
    value: '<format>',
    choices: RESULT_FORMATS,
    default: 'table',
    description: 'Output format',
  },
])
type StatementArguments = OptionValues<typeof options>

export const command = defineCommand({
  name: 'statement',
  summary: 'State balances and flows of a year, by wallet and asset',
  description:
    'State the opening balance of each wallet and asset, what was received, sent, swapped, wrapped and paid as fees in a period, and the closing balance. The table rounds long amounts (≈); the other formats are exact.',
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
    ['statement output/avalanche output/ethereum --year 2024 --format csv', 'Several chains'],
  ],
  run: ({ output, ...args }) => printStatement(output, args),
})

async function printStatement(outputArgs: string[], args: StatementArguments): Promise<void> {
  const { wallet: wallets = [], entryTypes = false, format, ...rest } = args
  const located: LocatedOutput[] = []
  for (const outputArg of new Set(outputArgs)) located.push(await openOutput(outputArg, ['ledger']))
  const folders = located.map(({ output }) => output) as [string, ...string[]]
  const stated = await statement(folders, { ...rest, wallets })
  const exact = entryTypes ? entryTypeTable(stated) : statementTable(stated)
  const table = format === 'table' && !entryTypes ? displayTable(stated) : printable(exact)
  await writeQueryResult(table, format, stdoutWriter())
  const log = openLog({})
  for (const [at, one] of stated.exports.entries()) {
    const { output, name } = located[at] as LocatedOutput
    await warnIfIncomplete(output)
    const verdict = await readReconciliation(output)
    if (verdict !== undefined) for (const line of storedReconciliationLines(verdict)) log.info(line)
    const place = stated.exports.length > 1 ? `${name}: ` : ''
    log.info(`${place}${periodLine(stated, one)}`)
    for (const line of [...findings(one, args), ...negativeLines(one.belowZero)]) log.warn(`${place}${line}`)
  }
  for (const line of warningsOf(stated)) log.warn(line)
}

/** States the period, and up to which block of the export its rows count. */
function periodLine(
  { period: { from, until } }: Statement,
  { newest, lastBlock }: Statement['exports'][number],
): string {
  const rows =
    newest === undefined ? 'no row counts' : `rows count up to block ${newest.block} (${newest.time})`
  return `from ${from} to ${until}: ${rows}; the export ends with block ${lastBlock}`
}

function findings(
  { unfilledOpening }: Statement['exports'][number],
  { opening }: StatementArguments,
): string[] {
  return unfilledOpening === 0
    ? []
    : [`${formatCount(unfilledOpening, 'line')} of ${opening} without an amount or a value: skipped`]
}

function warningsOf({ lines, period }: Statement): string[] {
  const unknown = lines.filter((line) => decimalsOf(line) === null).length
  return [
    ...(Date.parse(period.until) >= Date.now()
      ? ['the period has not ended yet: the closing balances are those of the last exported block']
      : []),
    ...(unknown === 0
      ? []
      : [
          `${formatCount(unknown, 'line')} without amounts, because the decimals of the token are unknown: see the values of \`balances\``,
        ]),
  ]
}

const printable = ({ columns, rows }: TextTable): PrintableResult => ({
  columns: columns.map((name) => ({ name, isNumber: false })),
  batches: singleBatch(rows),
})

/** Builds a table with rounded amounts. Swaps and wraps are net. */
function displayTable({ lines }: Statement): PrintableResult {
  const rows = lines.map((line) => {
    const net = (one: FlowName, other: FlowName) => line.flows[one] - line.flows[other]
    const { received, sent, fees } = line.flows
    const swapped = net('swapped_in', 'swapped_out')
    const wrapped = net('wrapped_in', 'wrapped_out')
    const symbol = truncateMiddle(line.asset_symbol ?? line.asset_type, 10)
    return [
      truncateMiddle(line.wallet_label ?? line.wallet_address, 14),
      line.token_id === null ? symbol : `${symbol} #${truncateMiddle(line.token_id, 9)}`,
      ...[line.opening, received, sent, swapped, wrapped, fees, line.closing].map((value) =>
        displayAmount(value, line),
      ),
    ]
  })
  const amounts = ['opening', 'received', 'sent', 'swapped', 'wrapped', 'fees', 'closing']
  return {
    columns: ['wallet', 'asset', ...amounts].map((name) => ({ name, isNumber: amounts.includes(name) })),
    batches: singleBatch(rows),
  }
}

function displayAmount(value: bigint, line: StatementLine): string {
  if (value === 0n) return '0'
  const amount = wholeUnits(value, line)
  return amount === null ? `${roundAmount(String(value))} units` : roundAmount(amount)
}
