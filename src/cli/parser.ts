import yargs from 'yargs'
import { suggest } from '../core/model/suggest.ts'
import type { Argument, Command, CommandArguments, Option } from './command.ts'
import { HELP_OPTION, optionForms, optionTerm, VERSION_OPTION } from './help.ts'
import { unknownError, usageError } from './usage-error.ts'

/** Result of yargs by option name. An option that was given several times has an array of values. */
type Given = {
  readonly [option: string]: unknown
  /** Arguments, and words that look like options but are unknown. */
  readonly _: readonly (string | number)[]
}

/**
 * Parses the words after the name of a command. This is the only file that knows the argument parser: yargs splits the
 * words into options and arguments, and what a command accepts is checked here, from its data.
 *
 * @returns the arguments for `run` of the command, or what to print instead of running it
 * @throws USAGE for words that the command does not accept
 */
export async function parseArguments(
  command: Command,
  argv: readonly string[],
): Promise<CommandArguments | 'help' | 'version'> {
  const options = [...command.options, HELP_OPTION, VERSION_OPTION]
  const given = await splitWords(argv, options)
  if (given.version === true) return 'version'
  if (given.help === true) return 'help'
  requireKnown(given, options)
  const forms = options.flatMap(optionForms)
  const values = options.map((option) => [option, optionValue(option, given[option.name], forms)] as const)
  requireCompatible(given, options)
  const words = [...given._.map(String), ...stringsIn(given['--'])]
  const named = [
    ...argumentValues(command, words),
    ...values.map(([option, value]) => parsedValue(option, value)),
  ]
  return Object.fromEntries(named.filter(([, value]) => value !== undefined))
}

async function splitWords(words: readonly string[], options: readonly Option[]): Promise<Given> {
  const parser = yargs(writeEmptyValues(words, options))
    // Disabled before the options are declared, because two of them have the same names.
    .help(false)
    .version(false)
    .options(Object.fromEntries(options.map((option) => [option.name, yargsOption(option)])))
    .parserConfiguration({
      'camel-case-expansion': false,
      'dot-notation': false,
      // The word after an option is its value, whatever it begins with.
      'nargs-eats-options': true,
      'parse-positional-numbers': false,
      'populate--': true,
      'unknown-options-as-args': true,
    })
    .detectLocale(false)
    .fail(false)
  try {
    return await parser.parseAsync()
  } catch (error) {
    throw error instanceof Error ? toUsageError(error, options) : error
  }
}

/** Writes `--name` of an option whose value may be left out as `--name=`, so that the next word is not its value. */
function writeEmptyValues(words: readonly string[], options: readonly Option[]): string[] {
  const end = words.indexOf('--')
  return words.map((word, at) =>
    (end === -1 || at < end) &&
    options.some(({ name, optionalValue }) => optionalValue && word === `--${name}`)
      ? `${word}=`
      : word,
  )
}

/** Flags are declared with 0 values. Otherwise yargs would use a following `true` or `false` as their value. */
function yargsOption({ alias, value }: Option) {
  const names = alias === undefined ? {} : { alias }
  return value === undefined
    ? { ...names, type: 'boolean' as const, nargs: 0 }
    : { ...names, type: 'string' as const, requiresArg: true }
}

/** Translates the two errors that yargs detects: an option without a value, and a flag with one. */
function toUsageError(error: Error, options: readonly Option[]): Error {
  const [, problem, name] = PARSER_MESSAGE.exec(error.message) ?? []
  const option = options.find((option) => name !== undefined && isNamed(option, name))
  if (option === undefined) return error
  const text = problem === UNEXPECTED_VALUE ? 'takes no value' : 'argument missing'
  return usageError(`option '${optionTerm(option)}' ${text}`)
}

const UNEXPECTED_VALUE = 'Argument unexpected for'
const PARSER_MESSAGE = new RegExp(`^(Not enough arguments following|${UNEXPECTED_VALUE}): (.+)$`)

const isNamed = ({ name, alias }: Option, word: string) => name === word || alias === word

/** Throws USAGE for unknown options. Their values are not shown, because they may be secrets. */
function requireKnown({ _: args, '--': rest, $0, ...given }: Given, options: readonly Option[]): void {
  // A single dash and negative numbers are arguments.
  const word = args.map(String).find((word) => /^-\D/.test(word))
  if (word !== undefined)
    throw unknownOption(word.startsWith('--') ? word.replace(/=.*/s, '') : word.slice(0, 2), options)
  // yargs does not report words that start with the name of an option, such as --output-x, as unknown.
  for (const [name, value] of Object.entries(given)) {
    const isNegated = [value].flat().includes(false)
    const isKnown = options.some((option) => isNamed(option, name) && (!isNegated || option.negatable))
    const dashes = isNegated ? '--no-' : name.length === 1 ? '-' : '--'
    if (!isKnown) throw unknownOption(`${dashes}${name}`, options)
  }
}

function unknownOption(word: string, options: readonly Option[]) {
  const choices = options.flatMap(optionForms)
  const isFile = word === '--out' || word === '--output'
  const printsCsv = options.some(({ name, choices }) => name === 'format' && choices?.includes('csv'))
  const hasFile = choices.includes('--out') || choices.includes('--output')
  const fix = isFile && printsCsv && !hasFile ? PRINTED_FIX : undefined
  return unknownError({ kind: 'option', word, choices, fix })
}

const PRINTED_FIX = 'This command prints its result. For a file, use --format csv > FILE.'

const stringsIn = (given: unknown) => [given].flat().filter((value) => typeof value === 'string')

function optionValue(option: Option, given: unknown, forms: readonly string[]) {
  if (option.value === undefined) return given === undefined ? undefined : given === true
  if (option.negatable && [given].flat().at(-1) === false) return false
  if (option.optionalValue && [given].flat().at(-1) === '') return true
  const values = stringsIn(given)
  for (const value of values) {
    if (forms.includes(value)) throw usageError(`option '${optionTerm(option)}' has no value before ${value}`)
    requireChoice(option, value, `--${option.name}: unknown ${nounOf(option.value)} ${value}`)
  }
  // The message does not show the values, because they may be secrets.
  if (!option.repeatable && new Set(values).size > 1)
    throw usageError(`option '${optionTerm(option)}' is given twice, with different values`, 'Give it once.')
  if (option.repeatable) return values.length === 0 ? undefined : values
  return values[0] ?? option.default
}

function parsedValue(option: Option, value: string | string[] | boolean | undefined) {
  const { name, parse } = option
  return [
    camelCase(name),
    parse !== undefined && typeof value === 'string' ? parse(value, name) : value,
  ] as const
}

/** Throws USAGE for an option that is required and missing, or that another given option excludes. */
function requireCompatible(given: Given, options: readonly Option[]): void {
  for (const option of options) {
    const isGiven = given[option.name] !== undefined
    if (option.required && !isGiven) throw usageError(`required option '${optionTerm(option)}' not specified`)
    const other = options.find(({ name }) => option.conflicts?.includes(name) && given[name] !== undefined)
    if (isGiven && other !== undefined)
      throw usageError(
        `option '${optionTerm(option)}' cannot be used with option '${optionTerm(other)}'`,
        `Give --${option.name} or --${other.name}, but not both.`,
      )
  }
}

function argumentValues({ name, arguments: args }: Command, words: readonly string[]) {
  if (words.length > args.length && !args.at(-1)?.repeatable)
    throw usageError(
      `too many arguments for '${name}'. Expected ${args.length} argument${args.length === 1 ? '' : 's'} but got ${words.length}.`,
    )
  return args.map((argument, at) => {
    const values = words.slice(at, argument.repeatable ? undefined : at + 1)
    if (argument.required && values.length === 0)
      throw usageError(`missing required argument '${argument.name}'`)
    for (const value of values) requireChoice(argument, value, `${name}: unknown ${argument.name} ${value}`)
    return [argument.name, argument.repeatable ? values : (values[0] ?? argument.default)] as const
  })
}

function requireChoice({ choices }: Argument, value: string, problem: string): void {
  if (choices === undefined || choices.includes(value)) return
  const suggestion = suggest(value, choices)
  const hint = suggestion === undefined ? '' : ` (Did you mean ${suggestion}?)`
  throw usageError(`${problem}${hint}`, `Use ${choices.length === 1 ? '' : 'one of '}${choices.join(', ')}.`)
}

/** What the placeholder of an option calls its value. */
const nounOf = (placeholder: string): string => placeholder.replaceAll(/[<>]/g, '')

function camelCase(name: string): string {
  return name.replace(/-(.)/g, (_, letter: string) => letter.toUpperCase())
}
