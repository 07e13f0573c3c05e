import type { Command } from 'commander'
import { ExportError } from '../../core/model/errors.ts'
import { type ReindexResult, reindexOutput } from '../../reindex/reindex.ts'
import { formatCount, formatInteger } from '../../terminal/format.ts'
import { print, printJson } from '../../terminal/print.ts'
import { addExamples } from '../examples.ts'
import type { SetExitCode } from '../exit-code.ts'
import { type LogArguments, logOptions, withSignals } from '../options/log.ts'
import {
  type RunLimitArguments,
  readDuration,
  readRunLimits,
  runLimitOptions,
} from '../options/option-parsers.ts'
import { OUTPUT_OR_JOB, openOutput } from '../options/output-argument.ts'
import { readAccessOfOutput, type ServiceArguments, serviceOptions } from '../options/service.ts'

type ReindexArguments = ServiceArguments &
  RunLimitArguments &
  LogArguments & { olderThan?: string; dryRun?: boolean; json?: boolean }

export function reindexCommand(program: Command, setExitCode: SetExitCode): void {
  const command = program
    .command('reindex')
    .description('Ask the API to refresh missing or old NFT metadata')
    .argument('<output>', OUTPUT_OR_JOB)
  serviceOptions(command)
    .option('--older-than <duration>', 'Also refresh metadata older than this, such as 30d or 12h')
    .option('--dry-run', 'List the tokens without sending requests')
  runLimitOptions(command)
  logOptions(command).option('--json', 'Print a JSON summary on stdout')
  addExamples(command, ['reindex output/mine --dry-run', 'List the tokens that would be refreshed'])
  command.action(async (outputArg: string, args: ReindexArguments) =>
    setExitCode(await reindex(outputArg, args)),
  )
}

async function reindex(outputArg: string, args: ReindexArguments): Promise<number> {
  const { dryRun = false, json, quiet } = args
  const olderThanMs = readDuration('older-than', args.olderThan)
  const runLimits = readRunLimits(args)
  const located = await openOutput(outputArg)
  const { output, name } = located
  return withSignals(args, async ({ log, signal }) => {
    const onNotice = dryRun ? log.debug : log.info
    const access = await readAccessOfOutput(located, { args, onNotice })
    const { error, ...result } = await reindexOutput(output, {
      service: { ...access, ...runLimits, signal, onDetail: log.debug, onNotice: log.info },
      ...{ olderThanMs, dryRun },
      onToken: ({ address, id, reason }) => {
        if (!json) print(`${address}/${id}  ${reason}`)
      },
    })
    const exit = error?.failure.exit ?? 0
    if (json) printJson({ output: name, exit, dryRun, ...result })
    else if (!quiet) print(summaryLines(result, { output: name, dryRun }))
    if (error !== undefined)
      log.failure(new ExportError(error.code, `${name}: ${error.message}`, { fix: error.fix }))
    return exit
  })
}

/** Lines of at most 80 columns, the service's own words apart. */
function summaryLines(
  result: Omit<ReindexResult, 'error'>,
  { output, dryRun }: { output: string; dryRun: boolean },
): string[] {
  const { tokens, missing, old, held, accepted, limited, unknown, refused, left, told, requests } = result
  const line = (count: number, label: string) =>
    count > 0 ? [`  ${formatInteger(count).padStart(9)}  ${label}`] : []
  return [
    ...told,
    `${output}: ${formatCount(tokens, 'token')}, ${formatInteger(missing)} without metadata, ${formatInteger(old)} old`,
    ...line(held, 'asked for within the hour, left alone'),
    ...line(accepted, `taken by the service to be read again (${formatCount(requests, 'request')})`),
    ...line(limited, 'at their own limit of the hour (429)'),
    ...line(unknown, 'unknown to the service (404)'),
    ...line(refused, 'refused by the service'),
    ...line(left, dryRun ? 'to be asked for' : 'left to be asked for: run the same command again'),
    ...(accepted > 0 ? ['  Export again with --fresh to see what was read.'] : []),
  ]
}
