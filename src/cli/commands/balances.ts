import { type Command, Option } from 'commander'
import { ExportError } from '../../core/model/errors.ts'
import {
  type Balance,
  type Balances,
  type BelowZero,
  balances,
  type FlaggedToken,
} from '../../ledger/balances/balances.ts'
import { compareExpected, type Difference } from '../../ledger/balances/compare-expected.ts'
import { counted } from '../../terminal/format.ts'
import { oneLine } from '../../terminal/log.ts'
import {
  ANSWER_FORMATS,
  type Answer,
  type AnswerFormat,
  writeAnswer,
} from '../../terminal/write-query-result.ts'
import { addExamples } from '../examples.ts'
import { collect } from '../options/collect.ts'
import { openLog } from '../options/log.ts'
import { OUTPUT_OR_JOB, outputOf } from '../options/output-argument.ts'
import { answerSink } from '../stdout-writer.ts'
import { warnOfGaps } from '../warn-incomplete.ts'

type BalancesArguments = {
  at?: string
  wallet?: string[]
  opening?: string
  expect?: string
  all?: boolean
  flags?: boolean
  template?: boolean
  format: AnswerFormat
}

export function balancesCommand(program: Command): void {
  const command = program
    .command('balances')
    .summary('List the balance of each wallet and asset')
    .description(
      'Sum the ledger by wallet and asset. Balances that were negative after a transaction are listed on stderr. The table rounds long amounts (≈); csv and json are exact.',
    )
    .argument('<output>', OUTPUT_OR_JOB)
    .option('--at <time>', 'After this block, at the end of this UTC day, or at this instant')
    .option('--wallet <address>', 'Only this wallet, by address or label (repeatable)', collect)
    .option('--opening <file>', 'CSV file of opening balances; see --template')
    .option('--expect <file>', 'CSV file of expected balances; exit code 10 if they differ')
    .option('--template', 'Print a CSV template for --opening or --expect instead')
    .option('--flags', 'List probable spam tokens, with the reason')
    .option('--all', 'Include balances of zero')
    .addOption(new Option('--format <format>', 'Output format').choices(ANSWER_FORMATS).default('table'))
    .action(tellBalances)
  addExamples(
    command,
    ['balances output/mine --at 2024-12-31', 'Balances at the end of a year'],
    ['balances output/mine --format csv > balances.csv', 'All columns, as a file'],
    ['balances output/mine --template > opening.csv', 'A template for opening balances'],
    ['balances output/mine --opening opening.csv --expect node.csv', 'Compare with the balances of a node'],
  )
}

/** Balances below zero that are told one by one. */
const TOLD = 20

async function tellBalances(word: string, args: BalancesArguments): Promise<void> {
  const { output } = await outputOf(word, ['ledger'])
  const { at, wallet: wallets = [], opening, expect, all = false, flags = false, format } = args
  if (args.template === true) return writeTemplate(output, args)
  const found = await balances(output, { at, wallets, opening, all: all || expect !== undefined })
  const shown = found.balances.filter(({ value }) => all || value !== 0n)
  const compared =
    expect === undefined ? undefined : await compareExpected(found.balances, expect, found.wallets)
  const answer = format === 'table' ? tableOf(shown) : columnsOf(shown)
  await writeAnswer(answer, format, answerSink())
  await warnOfGaps(output)
  const log = openLog({})
  if (at !== undefined) log.info(momentLine(at, found))
  for (const line of unfilledLines(found, compared, args)) log.warn(line)
  for (const below of found.belowZero.slice(0, TOLD)) log.warn(belowLine(below))
  if (found.belowZero.length > TOLD)
    log.warn(`and ${counted(found.belowZero.length - TOLD, 'balance')} more were below zero`)
  if (flags) for (const token of found.flagged) log.warn(flagLine(token))
  if (compared === undefined) return
  const { differences } = compared
  if (differences.length === 0)
    return log.info(`${counted(compared.compared, 'balance')} compared with ${expect}: all equal`)
  for (const difference of differences) log.warn(differenceLine(difference, expect as string))
  throw new ExportError(
    'VERIFY_FAILED',
    `${counted(differences.length, 'balance')} of ${compared.compared} not as ${expect} says`,
    {
      fix: 'Look into what is listed above: where balances are missing, give them with --opening, or correct the file.',
    },
  )
}

/** Writes the columns of `--format csv` with nothing in value and amount: the coin of each wallet, and all other balances. */
async function writeTemplate(
  output: string,
  { at, wallet = [], opening, expect }: BalancesArguments,
): Promise<void> {
  if (opening !== undefined || expect !== undefined)
    throw new ExportError('USAGE', '--template reads no file of amounts', {
      fix: 'Leave --opening and --expect out: the template is what they read, once it is filled in.',
    })
  const found = await balances(output, { at, wallets: wallet, all: true })
  const rows = found.wallets.flatMap(({ address, label }) => {
    const [coin, others] = [true, false].map((isCoin) =>
      found.balances.filter(
        ({ wallet_address, asset_type }) =>
          wallet_address === address && (asset_type === 'native') === isCoin,
      ),
    )
    const symbol = coin?.[0]?.asset_symbol ?? null
    return [
      [address, label, 'native', null, symbol, null, null, null],
      ...(others ?? []).map((balance) =>
        COLUMNS.map((name) => (name === 'value' || name === 'amount' ? null : balance[name])),
      ),
    ]
  })
  const columns = COLUMNS.map((name) => ({ name, isNumber: false }))
  await writeAnswer({ columns, batches: once(rows) }, 'csv', answerSink())
  openLog({}).info('fill in amount (whole units) or value (smallest unit); lines with neither are skipped')
}

/** Lines of the files that were skipped, as nobody has filled them in. */
function unfilledLines(
  { unfilledOpening }: Balances,
  compared: { unfilled: number } | undefined,
  { opening, expect }: BalancesArguments,
): string[] {
  return [
    { file: opening, count: unfilledOpening },
    { file: expect, count: compared?.unfilled ?? 0 },
  ].flatMap(({ file, count }) =>
    count === 0 ? [] : [`${counted(count, 'line')} of ${file} without an amount or a value: skipped`],
  )
}

const COLUMNS = [
  ...['wallet_address', 'wallet_label', 'asset_type', 'asset_address', 'asset_symbol', 'token_id', 'value'],
  'amount',
] as const satisfies readonly (keyof Balance)[]

/** Every column; numbers are exact text. */
function columnsOf(balances: readonly Balance[]): Answer {
  const rows = balances.map((balance) =>
    COLUMNS.map((name) => (name === 'value' ? String(balance.value) : balance[name])),
  )
  return { columns: COLUMNS.map((name) => ({ name, isNumber: false })), batches: once(rows) }
}

/** What people look for, within 80 characters. */
function tableOf(balances: readonly Balance[]): Answer {
  const rows = balances.map((balance) => [
    cut(balance.wallet_label ?? balance.wallet_address, 14),
    cut(balance.asset_symbol ?? balance.asset_type, 10),
    balance.asset_address === null ? null : cut(balance.asset_address, 11),
    balance.token_id === null ? null : cut(balance.token_id, 11),
    balance.amount === null ? `${roundedOff(String(balance.value))} units` : roundedOff(balance.amount),
  ])
  const columns = ['wallet', 'asset', 'contract', 'token', 'amount']
  return {
    columns: columns.map((name) => ({ name, isNumber: name === 'amount' })),
    batches: once(rows),
  }
}

async function* once<T>(rows: T): AsyncGenerator<T, void, void> {
  yield rows
}

/** The beginning and the end of what is longer. */
function cut(text: string, most: number): string {
  const letters = [...text]
  if (letters.length <= most) return text
  const tail = Math.min(4, most >> 1)
  return `${letters.slice(0, most - tail - 1).join('')}…${letters.slice(-tail).join('')}`
}

/** Numbers longer than this are rounded, and say so by their form. */
const SHOWN_DIGITS = 24

function roundedOff(amount: string): string {
  if (amount.length <= SHOWN_DIGITS) return amount
  const size = Math.abs(Number(amount))
  const isUsual = size >= 1e-6 && size < 1e15
  return isUsual ? `≈ ${amount.slice(0, SHOWN_DIGITS - 2)}` : `≈ ${Number(amount).toExponential(3)}`
}

function nameOf({ asset_symbol, asset_type, asset_address, token_id }: Balance): string {
  const id = token_id === null ? '' : ` #${token_id}`
  const contract = asset_address === null ? '' : ` (${asset_address})`
  return `${oneLine(asset_symbol ?? asset_type)}${id}${contract}`
}

/** What `--at` came to: a moment after the end of the export has the balances of its end. */
function momentLine(at: string, { newest, lastBlock }: Balances): string {
  const what =
    newest === undefined ? 'no row counts' : `rows count up to block ${newest.block} (${newest.time})`
  return `--at ${at}: ${what}; the export ends with block ${lastBlock}`
}

function belowLine(below: BelowZero): string {
  const { wallet_label, wallet_address, value_then, block_number, transaction_hash, causes } = below
  const where = `after transaction ${transaction_hash} in block ${block_number}`
  const listed = causes.length === 1 ? causes[0] : causes.map((cause, at) => `${at + 1}. ${cause}`).join('; ')
  const likely = causes.length === 1 ? '' : 'likely causes, the likeliest first: '
  return `${wallet_label ?? wallet_address}: ${nameOf(below)} was below zero (${value_then}) ${where}: ${likely}${listed}`
}

function flagLine({ asset_address, asset_symbol, flags }: FlaggedToken): string {
  const whys = flags.map(({ rule, why }) => `${rule} (${why})`).join(', ')
  return `${oneLine(asset_symbol ?? 'a token')} ${asset_address}: ${oneLine(whys)}`
}

function differenceLine({ line, expected, found, ...balance }: Difference, file: string): string {
  const { wallet_address, asset_type, asset_address, token_id } = balance
  const asset = [asset_type, asset_address, token_id].filter((part) => part !== null).join(' ')
  return `${file}:${line}: ${wallet_address} ${asset}: expected ${expected}, found ${found}`
}
