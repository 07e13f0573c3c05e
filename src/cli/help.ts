import { largest } from '../core/platform/extremes.ts'
import type { Argument, Command, Option } from './command.ts'
import { programName } from './program-name.ts'

/** Every command accepts these two options. The version option is only shown in the help of the program. */
export const HELP_OPTION: Option = { name: 'help', alias: 'h', description: 'Print this help' }
export const VERSION_OPTION: Option = { name: 'version', description: 'Print the version' }

/** Returns the help of the program. Commands are listed in the given order. */
export function programHelp(commands: readonly Command[]): string {
  const name = programName()
  return formatPage({
    usage: '[options] [command]',
    description: 'Export complete wallet histories to CSV or Parquet files',
    lists: {
      Options: [VERSION_OPTION, HELP_OPTION].map(optionItem),
      Commands: [
        ...commands.map((command): Item => [commandTerm(command), command.summary]),
        ['help [command]', 'Print the help of a command'],
      ],
    },
    paragraphs: [
      `Start here:
  ${name} demo    Export the demo wallets; needs no account
  ${name} init    Write a job file for your own wallets`,
      'The API key comes from WALLETLAKE_API_KEY or WALLETLAKE_API_KEY_FILE only.\nWALLETLAKE_BASE_URL, WALLETLAKE_API, WALLETLAKE_LOAD_TO and WALLETLAKE_PING_URL\nstand for options.',
      EXIT_CODES,
    ],
  })
}

const EXIT_CODES = `Exit codes: 0 success, 2 invalid command or job, 3 key refused, 4 request
refused, 5 service unavailable, 6 complete with gaps, 7 output or database,
8 locked, 9 limit reached, 10 a check failed. After 5, 8 and 9, run it again.`

/** Returns the help of a command. */
export function commandHelp(command: Command): string {
  const { summary, description = summary, options, examples = [], epilogue } = command
  const exampleLines = examples.flatMap(([line, what]) => [
    `  # ${what}`,
    breakLine(`  ${programName()} ${line}`),
  ])
  return formatPage({
    usage: commandTerm(command, '[options]'),
    description,
    lists: {
      Arguments: command.arguments.map((argument): Item => [argument.name, describe(argument)]),
      ...optionLists([...options.filter(({ hidden }) => !hidden), HELP_OPTION], command.groups),
    },
    paragraphs: [
      ...(examples.length === 0 ? [] : [['Examples:', ...exampleLines].join('\n')]),
      ...(epilogue === undefined ? [] : [epilogue]),
    ],
  })
}

/** The options by group, in the order of their declaration. */
function optionLists(options: readonly Option[], groups: NonNullable<Command['groups']> = {}) {
  const titleOf = ({ name }: Option) =>
    Object.keys(groups).find((title) => groups[title]?.includes(name)) ?? 'Options'
  const titles = [...Object.keys(groups), 'Options']
  return Object.fromEntries(
    titles.map((title) => [title, options.filter((option) => titleOf(option) === title).map(optionItem)]),
  )
}

/** Formats an option for help and messages: `--output <location>`, `--no-escape-formulas`, `-h, --help`. */
export function optionTerm({ name, alias, value, negatable, optionalValue }: Option): string {
  const short = alias === undefined ? '' : `-${alias}, `
  if (value === undefined) return `${short}--${negatable ? 'no-' : ''}${name}`
  return `${short}--${name}${optionalValue ? `[=${value}]` : ` ${value}`}`
}

/** Returns all spellings of an option. */
export function optionForms({ name, alias, negatable }: Option): string[] {
  return [`--${name}`, ...(negatable ? [`--no-${name}`] : []), ...(alias === undefined ? [] : [`-${alias}`])]
}

function commandTerm({ name, arguments: args }: Command, ...between: string[]): string {
  const terms = args.map(({ name, required, repeatable }) => {
    const term = `${name}${repeatable ? '...' : ''}`
    return required ? `<${term}>` : `[${term}]`
  })
  return [name, ...between, ...terms].join(' ')
}

const optionItem = (option: Option): Item => [optionTerm(option), describe(option)]

function describe({ description, choices, default: defaultValue }: Argument): string {
  const list = choices === undefined ? '' : `: ${choices.join(', ')}`
  return `${description}${list}${defaultValue === undefined ? '' : ` (default: ${defaultValue})`}`
}

type Item = readonly [term: string, description: string]
type Page = {
  usage: string
  description: string
  lists: Readonly<Record<string, readonly Item[]>>
  paragraphs: readonly string[]
}

const MAX_COLUMNS = 80
/** Descriptions are not wrapped to fewer columns, however narrow the terminal is. */
const MIN_DESCRIPTION_COLUMNS = 40

function formatPage({ usage, description, lists, paragraphs }: Page): string {
  const columns = Math.min(MAX_COLUMNS, process.stdout.columns ?? MAX_COLUMNS)
  const indent = 4 + largest(Object.values(lists).flatMap((items) => items.map(([term]) => term.length)))
  const formatItem = ([term, text]: Item) =>
    `  ${term}`.padEnd(indent) + wrap(text, columns - indent).join(`\n${' '.repeat(indent)}`)
  const formatted = Object.entries(lists).map(([title, items]) =>
    items.length === 0 ? [] : [[`${title}:`, ...items.map(formatItem)].join('\n')],
  )
  const blocks = [
    `Usage: ${programName()} ${usage}`,
    wrap(description, columns).join('\n'),
    ...formatted.flat(),
    ...paragraphs,
  ]
  return `${blocks.join('\n\n')}\n`
}

/** Wraps text at spaces. A word that is longer than a line gets its own line. */
function wrap(text: string, columns: number): string[] {
  const width = Math.max(columns, MIN_DESCRIPTION_COLUMNS)
  const lines: string[] = []
  for (const word of text.split(' ')) {
    const line = lines.at(-1)
    if (line === undefined || line.length + 1 + word.length > width) lines.push(word)
    else lines[lines.length - 1] = `${line} ${word}`
  }
  return lines
}

/** Breaks a long example before an option, with a backslash so that a shell accepts it. */
function breakLine(line: string): string {
  const at = line.length <= MAX_COLUMNS ? -1 : line.lastIndexOf(' --', MAX_COLUMNS - 2)
  return at < 0 ? line : `${line.slice(0, at)} \\\n   ${line.slice(at)}`
}
