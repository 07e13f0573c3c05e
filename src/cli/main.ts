import yargs, { type Argv, type CommandModule } from 'yargs'
import { prepareThread } from '../assemble/threads/thread.ts'
import { ExportError, toExportError } from '../core/errors.ts'
import { compileWasmQuickly } from '../core/v8.ts'
import { VERSION } from '../core/version.ts'
import { createLog, type LogFormat } from '../report/log.ts'

/** Runs one command line and gives the process's exit code. */
export async function main(argv: readonly string[]): Promise<number> {
  let exit = 0
  const finish = (code: number) => {
    exit = code
  }
  try {
    const commands = await loadCommands(argv, finish)
    await build(argv, commands).parseAsync()
    return exit
  } catch (thrown) {
    return reportFailure(toExportError(thrown), argv)
  }
}

type Finish = (exit: number) => void
// biome-ignore lint/suspicious/noExplicitAny: every command has arguments of its own
type Command = CommandModule<object, any>

/** What a command needs is loaded with it: starting costs more than most commands do. */
const COMMANDS: Record<string, (finish: Finish) => Promise<Command>> = {
  run: async (finish) => {
    compileWasmQuickly()
    prepareThread()
    return (await import('./run.ts')).runCommand(finish)
  },
  plan: async () => (await import('./plan.ts')).planCommand(),
  validate: async () => (await import('./validate.ts')).validateCommand(),
  status: async () => (await import('./status.ts')).statusCommand(),
  verify: async (finish) => (await import('./verify.ts')).verifyCommand(finish),
  compact: async () => (await import('./compact.ts')).compactCommand(),
  load: async () => (await import('./load.ts')).loadCommand(),
  audit: async (finish) => (await import('./audit.ts')).auditCommand(finish),
  reindex: async (finish) => (await import('./reindex.ts')).reindexCommand(finish),
  watch: async () => (await import('./watch.ts')).watchCommand(),
  webhooks: async () => (await import('./webhooks.ts')).webhooksCommand(),
  schema: async () => (await import('./schema.ts')).schemaCommand(),
  serve: async () => (await import('./serve.ts')).serveCommand(),
}

/** The commands that the line names; all of them where it names none, for the help. */
function loadCommands(argv: readonly string[], finish: Finish): Promise<Command[]> {
  const names = Object.keys(COMMANDS)
  const named = names.filter((name) => argv.includes(name))
  const wanted = named.length > 0 || argv.includes('--version') ? named : names
  return Promise.all(wanted.map(async (name) => COMMANDS[name]?.(finish) as Promise<Command>))
}

function build(argv: readonly string[], commands: readonly Command[]): Argv {
  return renderNoHelpAhead(yargs([...argv]))
    .detectLocale(false)
    .scriptName('walletlake')
    .usage('$0 <command>\n\nExports the whole history of crypto wallets into CSV or Parquet files.')
    .command([...commands])
    .demandCommand(1, 'no command was given')
    .recommendCommands()
    .strict()
    .version(VERSION)
    .help()
    .alias('h', 'help')
    .epilogue(EPILOGUE)
    .exitProcess(false)
    .wrap(Math.min(80, process.stdout.columns ?? 80))
    .fail((message, error) => {
      const isOurs = error !== undefined && error.name !== 'YError'
      throw isOurs ? error : new ExportError('USAGE', withoutCredentials(message))
    })
}

type Internals = {
  getInternalMethods(): { getUsageInstance(): { cacheHelpMessage(): void } }
}

/** yargs renders the help of every command that it runs, for its failure: 40 ms. What fails here shows none. */
function renderNoHelpAhead(parser: Argv): Argv {
  const internals = (parser as unknown as Internals).getInternalMethods()
  internals.getUsageInstance().cacheHelpMessage = () => {}
  return parser
}

/** A word of the command line may be an address with a password in it. */
function withoutCredentials(message: string): string {
  return message.replace(/:\/\/\S*@/g, '://…@')
}

const EPILOGUE = `Start here:
  walletlake run jobs/demo.yaml     export the demo wallets, no account needed
  walletlake serve                  the embedded data service on its own

Keys come from WALLETLAKE_API_KEY or WALLETLAKE_API_KEY_FILE, never from a job.`

function reportFailure(error: ExportError, argv: readonly string[]): number {
  const at = argv.indexOf('--log-format')
  const json = argv.includes('--log-format=json') || (at >= 0 && argv[at + 1] === 'json')
  const format: LogFormat = json ? 'json' : 'pretty'
  const log = createLog({ format, level: 'error', write: (line) => process.stderr.write(`${line}\n`) })
  log.failure(error)
  if (error.code === 'BUG' && argv.includes('--verbose')) log.failure(withStack(error))
  return error.failure.exit
}

function withStack({ cause, fix }: ExportError): ExportError {
  return new ExportError('BUG', cause instanceof Error ? (cause.stack ?? cause.message) : String(cause), {
    fix,
  })
}
