import { CommanderError } from 'commander'
import { ExportError, FAILURES, toExportError } from '../core/model/errors.ts'
import { openLog } from './options/log.ts'
import { buildProgram, commandOf } from './program.ts'

/** Runs one command line and gives the process's exit code; without any word it prints the help. */
export async function main(argv: readonly string[]): Promise<number> {
  let exit = 0
  try {
    const program = await buildProgram(argv, (code) => {
      exit = code
    })
    await program.parseAsync(normalizeArgv(argv), { from: 'user' })
    return exit
  } catch (thrown) {
    if (thrown instanceof CommanderError && thrown.exitCode === 0) return 0
    return reportFailure(thrown, argv)
  }
}

/** What the program is to read: `help` of a word that is no command is as wrong as the word alone. */
function normalizeArgv(argv: readonly string[]): string[] {
  const [first, ...rest] = argv
  if (first === undefined) return ['--help']
  return first === 'help' && rest[0] !== undefined && commandOf(argv) === undefined ? rest : [...argv]
}

/** Says on stderr what ended a command line, and gives its exit code. */
export function reportFailure(thrown: unknown, argv: readonly string[]): number {
  const error = thrown instanceof CommanderError ? usageError(thrown) : toExportError(thrown)
  const at = argv.indexOf('--log-format')
  const json = argv.includes('--log-format=json') || (at >= 0 && argv[at + 1] === 'json')
  const log = openLog({ logFormat: json ? 'json' : 'pretty', quiet: true })
  log.failure(withHelp(error, commandOf(argv)))
  if (error.code === 'BUG' && argv.includes('--verbose')) log.failure(withStack(error))
  return error.failure.exit
}

/** What is wrong with a command line, as a failure of ours. A word of it may hold a password or a key. */
function usageError({ message }: CommanderError): ExportError {
  const text = message.replace(/^error: /, '').replaceAll('\n', ' ')
  const usageMessage = text.replace(/:\/\/\S*@/g, '://…@').replace(/(?<=^unknown option '[^=]*)=.*'/s, "'")
  return new ExportError('USAGE', usageMessage, KEY_OPTION.test(usageMessage) ? { fix: KEY_FIX } : {})
}

const KEY_OPTION = /^unknown option '--?[\w-]*(key|token|secret|password)'/i
const KEY_FIX =
  'Set WALLETLAKE_API_KEY, or WALLETLAKE_API_KEY_FILE to a file that holds the key; the command line takes none.'

/** Where nothing better is advised, the help of the command that the line names. */
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
