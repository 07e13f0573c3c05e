import { daysOfYear } from '../../accounting/statement/statement.ts'
import { RESULT_FORMATS } from '../../terminal/write-query-result.ts'
import { option } from '../command.ts'
import { fileOf } from '../result-file.ts'

/** The options and arguments of commands that read exports. Each is declared here once, if several commands have it. */

const OUTPUT_OR_JOB = 'Output (folder or s3://bucket/prefix) or its job file'

export const outputArgument = { name: 'output', required: true, description: OUTPUT_OR_JOB } as const

/** Several outputs. `combined` says what becomes of them. */
export const outputsArgument = (combined: string) =>
  ({ name: 'output', repeatable: true, description: `${OUTPUT_OR_JOB}; several${combined}` }) as const

/** Limits of a period of time. A year is parsed to its first and last day. */
export const periodOptions = [
  option('year <year>', 'UTC year', { conflicts: ['from', 'until'], parse: daysOfYear }),
  option('from <date>', 'Start at this UTC day or instant'),
  option('until <date>', 'Stop at the end of this UTC day, or at this instant'),
]

export const walletOption = option('wallet <address>', 'Only this wallet, by address or label (repeatable)', {
  repeatable: true,
})

/** `--opening`, which replaces the opening balances that are known, and `--no-opening`. */
export const openingOption = option(
  'opening <file>',
  'CSV file of opening balances (see `balances --template`; with a column chain for several chains), instead of those that `reconcile` learned; --no-opening uses none',
  { negatable: true },
)

export const adjustmentsOption = option(
  'adjustments <file>',
  'CSV file of movements that the chain does not show (time, chain, wallet_address, asset_type, asset_address, token_id, amount or value, type, note)',
)

export const namesOption = (named: string) =>
  option('names <file>', `CSV file (address,name) that names ${named}`)

export const pricesOption = (valued: string) =>
  option(
    'prices <file>',
    `CSV file of prices (date,asset,currency,price; chain for several chains) for ${valued}; auto requests them from DefiLlama, auto:NAME,… from other sources of \`prices\``,
  )

export const pricesNeededOption = option('prices-needed', 'Print a CSV template for --prices instead')

export const tickersOption = (tokens: string) =>
  option('tickers <file>', `CSV file of tickers (chain,contract,ticker) for ${tokens}`)

export const excludeSpamOption = option(
  'exclude-spam',
  'Leave out the spam tokens that `balances --flags` lists',
)

/** Commands that show amounts. `throwIfDoubtful` implements it. */
export const strictOption = (doubt: string) => option('strict', `Exit with code 6 if ${doubt}`)
export const AMOUNTS_DOUBTFUL = 'the export is missing rows, or amounts may be wrong'

/** The format of a result on stdout. */
export const resultFormatOption = option('format <format>', 'Output format', {
  choices: RESULT_FORMATS,
  default: 'table',
})

/** The file of a result. `-` stands for stdout, and is undefined. */
export const outOption = (description: string) => option('out <file>', description, { parse: fileOf })
