import type { Command } from 'commander'
import { ExportError } from '../../core/model/errors.ts'
import { type ReindexResult, reindexOutput } from '../../reindex/reindex.ts'
import { counted, grouped } from '../../terminal/format.ts'
import { say, sayJson } from '../../terminal/print.ts'
import { addExamples } from '../examples.ts'
import type { Finish } from '../exit-code.ts'
import { type LogArguments, logOptions, withSignals } from '../options/log.ts'
import { type BoundArguments, boundOptions, readBounds, readDuration } from '../options/option-parsers.ts'
import { OUTPUT_OR_JOB, outputOf } from '../options/output-argument.ts'
import { accessOfOutput, type ServiceArguments, serviceOptions } from '../options/service.ts'

type ReindexArguments = ServiceArguments &
  BoundArguments &
  LogArguments & { olderThan?: string; dryRun?: boolean; json?: boolean }

export function reindexCommand(program: Command, finish: Finish): void {
  const command = program
    .command('reindex')
    .description('Ask the API to refresh missing or old NFT metadata')
    .argument('<output>', OUTPUT_OR_JOB)
  serviceOptions(command)
    .option('--older-than <duration>', 'Also refresh metadata older than this, such as 30d or 12h')
    .option('--dry-run', 'List the tokens without sending requests')
  boundOptions(command)
  logOptions(command).option('--json', 'Print a JSON summary on stdout')
  addExamples(command, ['reindex output/mine --dry-run', 'List the tokens that would be refreshed'])
  command.action(async (word: string, args: ReindexArguments) => finish(await reindex(word, args)))
}

async function reindex(word: string, args: ReindexArguments): Promise<number> {
  const { dryRun = false, json, quiet } = args
  const olderThanMs = readDuration('older-than', args.olderThan)
  const bounds = readBounds(args)
  const named = await outputOf(word)
  const { output, name } = named
  return withSignals(args, async ({ log, signal }) => {
    const onNotice = dryRun ? log.debug : log.info
    const access = await accessOfOutput(named, { args, onNotice })
    const { error, ...result } = await reindexOutput(output, {
      service: { ...access, ...bounds, signal, onDetail: log.debug, onNotice: log.info },
      ...{ olderThanMs, dryRun },
      onToken: ({ address, id, reason }) => {
        if (!json) say(`${address}/${id}  ${reason}`)
      },
    })
    const exit = error?.failure.exit ?? 0
    if (json) sayJson({ output: name, exit, dryRun, ...result })
    else if (!quiet) say(summaryLines(result, { output: name, dryRun }))
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
  const line = (count: number, what: string) =>
    count > 0 ? [`  ${grouped(count).padStart(9)}  ${what}`] : []
  return [
    ...told,
    `${output}: ${counted(tokens, 'token')}, ${grouped(missing)} without metadata, ${grouped(old)} old`,
    ...line(held, 'asked for within the hour, left alone'),
    ...line(accepted, `taken by the service to be read again (${counted(requests, 'request')})`),
    ...line(limited, 'at their own limit of the hour (429)'),
    ...line(unknown, 'unknown to the service (404)'),
    ...line(refused, 'refused by the service'),
    ...line(left, dryRun ? 'to be asked for' : 'left to be asked for: run the same command again'),
    ...(accepted > 0 ? ['  Export again with --fresh to see what was read.'] : []),
  ]
}
