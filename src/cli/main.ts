import { ExportError, FAILURES, toExportError } from '../core/model/errors.ts'
import { VERSION } from '../core/model/version.ts'
import type { Command } from './command.ts'
import { COMMANDS } from './commands/index.ts'
import { commandHelp, HELP_OPTION, optionForms, programHelp, VERSION_OPTION } from './help.ts'
import { openLog } from './options/log.ts'
import { unknownError } from './usage-error.ts'

/** Runs a command line and returns the exit code. Without arguments, prints the help. */
export async function main(argv: readonly string[]): Promise<number> {
  try {
    return await runCommandLine(argv)
  } catch (error) {
    return reportFailure(error, argv)
  }
}

async function runCommandLine(argv: readonly string[]): Promise<number> {
  const isHelp = argv[0] === 'help'
  const [name = '--help', ...rest] = isHelp ? argv.slice(1) : argv
  const words = isHelp ? ['--help'] : rest
  if (name === '--version') return printText(`${VERSION}\n`)
  if (name === '--help' || name === '-h') return printText(programHelp(await loadCommands()))
  const load = Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined
  if (load === undefined) throw unknownWord(name)
  const { command } = await load()
  // Loaded lazily: the help of the program and the version do not need the parser.
  const { parseArguments } = await import('./parser.ts')
  const args = await parseArguments(command, words)
  if (args === 'version') return printText(`${VERSION}\n`)
  if (args === 'help') return printText(commandHelp(command))
  return (await command.run(args)) ?? 0
}

function printText(text: string): number {
  process.stdout.write(text)
  return 0
}

async function loadCommands(): Promise<Command[]> {
  const modules = await Promise.all(Object.values(COMMANDS).map((load) => load()))
  return modules.map(({ command }) => command)
}

function unknownWord(word: string): ExportError {
  if (!word.startsWith('-')) return unknownError({ kind: 'command', word, choices: Object.keys(COMMANDS) })
  const choices = [VERSION_OPTION, HELP_OPTION].flatMap(optionForms)
  return unknownError({ kind: 'option', word: word.replace(/=.*/s, ''), choices })
}

/** Returns the first command name in the arguments, or undefined if there is none. */
function commandOf(argv: readonly string[]): string | undefined {
  return argv.find((word) => Object.hasOwn(COMMANDS, word))
}

/** Reports an error on stderr and returns its exit code. */
export function reportFailure(cause: unknown, argv: readonly string[]): number {
  const error = toExportError(cause)
  const at = argv.indexOf('--log-format')
  const json = argv.includes('--log-format=json') || (at >= 0 && argv[at + 1] === 'json')
  const log = openLog({ logFormat: json ? 'json' : 'pretty', quiet: true })
  log.failure(withHelp(error, commandOf(argv)))
  if (error.code === 'BUG' && argv.includes('--verbose')) log.failure(withStack(error))
  return error.failure.exit
}

/** Replaces the default fix of USAGE by a reference to the help of the command. */
function withHelp(error: ExportError, command: string | undefined): ExportError {
  if (error.fix !== FAILURES.USAGE.fix || command === undefined) return error
  return new ExportError('USAGE', error.lines, {
    fix: `Run walletlake ${command} --help to see how it is used.`,
  })
}

function withStack({ cause, fix }: ExportError): ExportError {
  if (!(cause instanceof Error)) return new ExportError('BUG', String(cause), { fix })
  const { message, stack = '' } = cause
  const records = stack.slice(stack.indexOf(message) + message.length).split('\n')
  return new ExportError('BUG', [message, ...records.filter((line) => /^ +at /.test(line))], { fix })
}
