import yargs, { type Argv } from 'yargs'
import { ExportError, toExportError } from '../errors.ts'
import { createLog, type LogFormat } from '../report/log.ts'
import { VERSION } from '../version.ts'
import { auditCommand } from './audit.ts'
import { compactCommand } from './compact.ts'
import { loadCommand } from './load.ts'
import { planCommand } from './plan.ts'
import { reindexCommand } from './reindex.ts'
import { runCommand } from './run.ts'
import { schemaCommand } from './schema.ts'
import { serveCommand } from './serve.ts'
import { statusCommand } from './status.ts'
import { validateCommand } from './validate.ts'
import { verifyCommand } from './verify.ts'
import { watchCommand } from './watch.ts'
import { webhooksCommand } from './webhooks.ts'

/** Runs one command line and gives the process's exit code. */
export async function main(argv: readonly string[]): Promise<number> {
  let exit = 0
  const finish = (code: number) => {
    exit = code
  }
  try {
    await build(argv, finish).parseAsync()
    return exit
  } catch (thrown) {
    return reportFailure(toExportError(thrown), argv)
  }
}

function build(argv: readonly string[], finish: (exit: number) => void): Argv {
  const parser = yargs([...argv])
    .scriptName('walletlake')
    .usage('$0 <command>\n\nExports the whole history of crypto wallets into CSV or Parquet files.')
    .command(runCommand(finish))
    .command(planCommand())
    .command(validateCommand())
    .command(statusCommand())
    .command(verifyCommand(finish))
    .command(compactCommand())
    .command(loadCommand())
    .command(auditCommand(finish))
    .command(reindexCommand(finish))
    .command(watchCommand())
    .command(webhooksCommand())
    .command(schemaCommand())
    .command(serveCommand())
    .demandCommand(1, 'no command was given')
    .strict()
    .version(VERSION)
    .help()
    .alias('h', 'help')
    .epilogue(EPILOGUE)
    .exitProcess(false)
    .wrap(Math.min(80, process.stdout.columns ?? 80))
    .fail((message, error) => {
      throw error ?? new ExportError('USAGE', withoutCredentials(message))
    })
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
