import { ExportError } from '../../core/model/errors.ts'
import { type ReindexResult, reindexOutput } from '../../reindex/reindex.ts'
import { formatCount, formatInteger } from '../../terminal/format.ts'
import { print, printJson } from '../../terminal/print.ts'
import { defineCommand, defineOptions, type OptionValues } from '../command.ts'
import { logOptions, withSignals } from '../options/log.ts'
import { readDuration, readRunLimits, runLimitOptions } from '../options/option-parsers.ts'
import { OUTPUT_OR_JOB, openOutput } from '../options/output-argument.ts'
import { readAccessOfOutput, serviceOptions } from '../options/service.ts'

const options = defineOptions([
  ...serviceOptions,
  {
    name: 'older-than',
    value: '<duration>',
    description: 'Also refresh metadata older than this, such as 30d or 12h',
  },
  { name: 'dry-run', description: 'List the tokens without sending requests' },
  ...runLimitOptions,
  ...logOptions,
  { name: 'json', description: 'Print a JSON summary on stdout' },
])
type ReindexArguments = OptionValues<typeof options>

export const command = defineCommand({
  name: 'reindex',
  summary: 'Ask the service to refresh missing or old NFT metadata',
  arguments: [{ name: 'output', required: true, description: OUTPUT_OR_JOB }],
  options,
  examples: [['reindex output/mine --dry-run', 'List the tokens that would be refreshed']],
  run: ({ output, ...args }) => reindex(output, args),
})

async function reindex(outputArg: string, args: ReindexArguments): Promise<number> {
  const { dryRun = false, json, quiet } = args
  const olderThanMs = readDuration('older-than', args.olderThan)
  const runLimits = readRunLimits(args)
  const located = await openOutput(outputArg)
  const { output, name } = located
  const interruption = { outcome: 'requested tokens are not requested again' }
  return withSignals({ ...args, interruption }, async ({ log, signal }) => {
    const onNotice = dryRun ? log.debug : log.info
    const access = await readAccessOfOutput(located, { args, isDataApiOnly: true, onNotice })
    const { error, ...result } = await reindexOutput(output, {
      service: { ...access, ...runLimits, signal, onDetail: log.debug, onNotice: log.info },
      olderThanMs,
      dryRun,
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

/** Formats the result as lines of at most 80 columns, except for messages of the service. */
function summaryLines(
  result: Omit<ReindexResult, 'error'>,
  { output, dryRun }: { output: string; dryRun: boolean },
): string[] {
  const {
    tokens,
    missing,
    old,
    recentlyRequested,
    accepted,
    limited,
    unknown,
    refused,
    unanswered,
    unconfirmed,
    remaining,
    messages,
    requests,
  } = result
  const line = (count: number, text: string) =>
    count > 0 ? [`  ${formatInteger(count).padStart(9)}  ${text}`] : []
  return [
    ...messages,
    `${output}: ${formatCount(tokens, 'token')}, ${formatInteger(missing)} without metadata, ${formatInteger(old)} old`,
    ...line(recentlyRequested - unconfirmed, 'requested within the last hour, skipped'),
    ...line(unconfirmed, 'requested within the last hour without a response, skipped'),
    ...line(accepted, `accepted by the service for reindexing (${formatCount(requests, 'request')})`),
    ...line(limited, 'at their hourly limit (429)'),
    ...line(unknown, 'unknown to the service (404)'),
    ...line(refused, 'refused by the service'),
    ...line(unanswered, 'without a response: may be refreshed; requested again after an hour'),
    ...line(remaining, dryRun ? 'to be requested' : 'left: run the same command again'),
    ...(accepted > 0
      ? ['  To get the refreshed metadata, export again with --fresh or a sufficient --lookback.']
      : []),
  ]
}
