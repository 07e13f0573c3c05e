import { type Argument, Command, type Option } from 'commander'
import { VERSION } from '../core/model/version.ts'
import type { SetExitCode } from './exit-code.ts'
import { validateOptions } from './options/validate-options.ts'
import { programName } from './program-name.ts'

/** Adds one command to the program. */
type AddCommand = (program: Command, setExitCode: SetExitCode) => void

/** What a command needs is loaded with it: starting costs more than most commands do. In the order of the help. */
const COMMANDS: Record<string, () => Promise<AddCommand>> = {
  demo: async () => (await import('./commands/demo.ts')).demoCommand,
  init: async () => (await import('./commands/init.ts')).initCommand,
  run: async () => (await import('./commands/run.ts')).runCommand,
  worker: async () => (await import('./commands/worker.ts')).workerCommand,
  plan: async () => (await import('./commands/plan.ts')).planCommand,
  validate: async () => (await import('./commands/validate.ts')).validateCommand,
  status: async () => (await import('./commands/status.ts')).statusCommand,
  verify: async () => (await import('./commands/verify.ts')).verifyCommand,
  balances: async () => (await import('./commands/balances.ts')).balancesCommand,
  convert: async () => (await import('./commands/convert.ts')).convertCommand,
  report: async () => (await import('./commands/report.ts')).reportCommand,
  query: async () => (await import('./commands/query.ts')).queryCommand,
  compact: async () => (await import('./commands/compact.ts')).compactCommand,
  load: async () => (await import('./commands/load.ts')).loadCommand,
  audit: async () => (await import('./commands/audit.ts')).auditCommand,
  reindex: async () => (await import('./commands/reindex.ts')).reindexCommand,
  watch: async () => (await import('./commands/watch.ts')).watchCommand,
  webhooks: async () => (await import('./commands/webhooks.ts')).webhooksCommand,
  schema: async () => (await import('./commands/schema.ts')).schemaCommand,
  serve: async () => (await import('./commands/serve.ts')).serveCommand,
}

/** The first command that a line names; undefined where it names none. */
export function commandOf(argv: readonly string[]): string | undefined {
  return argv.find((argument) => Object.hasOwn(COMMANDS, argument))
}

/** The program with the commands that a line names; with all of them where it names none, for the help. `--version` needs none. */
export async function buildProgram(argv: readonly string[], setExitCode: SetExitCode): Promise<Command> {
  const program = describeProgram()
  if (argv[0] === '--version') return program
  const named = Object.keys(COMMANDS).filter((name) => argv.includes(name))
  for (const [name, load] of Object.entries(COMMANDS)) {
    if (named.length === 0 || named.includes(name)) (await load())(program, setExitCode)
  }
  for (const command of program.commands) validateOptions(command)
  return program
}

function describeProgram(): Command {
  return new Command(programName())
    .description('Export complete wallet histories to CSV or Parquet files')
    .version(VERSION, '--version', 'Print the version')
    .helpOption('-h, --help', 'Print this help')
    .helpCommand('help [command]', 'Print the help of a command')
    .configureHelp({
      optionDescription: describeOption,
      argumentDescription: describeOption,
      subcommandTerm: (command) => `${command.name()} ${command.usage().replace(/^\[options\] ?/, '')}`,
    })
    .configureOutput({
      getOutHelpWidth: () => Math.min(80, process.stdout.columns ?? 80),
      outputError: () => {},
    })
    .exitOverride()
    .addHelpText('after', EPILOGUE)
}

function describeOption({ description, argChoices, defaultValue }: Option | Argument): string {
  const choices = argChoices === undefined ? '' : `: ${argChoices.join(', ')}`
  return `${description}${choices}${defaultValue === undefined ? '' : ` (default: ${defaultValue})`}`
}

const EPILOGUE = `
Start here:
  ${programName()} demo    Export the demo wallets; needs no account
  ${programName()} init    Write a job file for your own wallets

The API key comes from WALLETLAKE_API_KEY or WALLETLAKE_API_KEY_FILE only.`
