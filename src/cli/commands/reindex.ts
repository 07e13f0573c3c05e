import { ExportError } from '../../core/model/errors.ts'
import { type ReindexResult, reindexOutput } from '../../reindex/reindex.ts'
import { formatCount, formatInteger, presentLines } from '../../terminal/format.ts'
import { print, printJson } from '../../terminal/print.ts'
import { defineCommand, option } from '../command.ts'
import { outputArgument } from '../options/export-options.ts'
import { logOptions } from '../options/log.ts'
import { openOutput } from '../options/output-argument.ts'
import { duration, runLimitOptions } from '../options/parsers.ts'
import { serviceOptions, withService } from '../options/service.ts'

export const command = defineCommand({
  name: 'reindex',
  summary: 'Ask the service to refresh missing or old NFT metadata',
  arguments: [outputArgument],
  options: [
    ...serviceOptions,
    option('older-than <duration>', 'Also refresh metadata older than this, such as 30d or 12h', {
      parse: duration,
    }),
    option('dry-run', 'List the tokens without sending requests'),
    ...runLimitOptions,
    ...logOptions,
    option('json', 'Print a JSON summary on stdout'),
  ],
  examples: [['reindex output/mine --dry-run', 'List the tokens that would be refreshed']],
  run: async ({ output: outputArg, ...args }) => {
    const { dryRun = false, json, quiet, maxRequests, deadline: deadlineMs, olderThan: olderThanMs } = args
    const located = await openOutput(outputArg)
    const { output, name } = located
    const interruption = { outcome: 'requested tokens are not requested again' }
    const noticeLevel = dryRun ? 'debug' : 'info'
    const access = { args, isDataApiOnly: true, interruption, noticeLevel } as const
    const { error, ...result } = await withService(located, access, ({ service }) =>
      reindexOutput(output, {
        service: { ...service, maxRequests, deadlineMs },
        olderThanMs,
        dryRun,
        onToken: ({ address, id, reason }) => {
          if (!json) print(`${address}/${id}  ${reason}`)
        },
      }),
    )
    if (json) printJson({ output: name, exit: error?.failure.exit ?? 0, dryRun, ...result })
    else if (!quiet) print(summaryLines(result, name, dryRun))
    if (error !== undefined)
      throw new ExportError(error.code, `${name}: ${error.message}`, { fix: error.fix })
  },
})

/** Formats the result as lines of at most 80 columns, except for messages of the service. */
function summaryLines(result: Omit<ReindexResult, 'error'>, output: string, dryRun: boolean): string[] {
  const { tokens, missing, old, recentlyRequested, accepted, unconfirmed, messages, requests } = result
  const line = (count: number, text: string) => count > 0 && `  ${formatInteger(count).padStart(9)}  ${text}`
  return presentLines(
    messages,
    `${output}: ${formatCount(tokens, 'token')}, ${formatInteger(missing)} without metadata, ${formatInteger(old)} old`,
    line(recentlyRequested - unconfirmed, 'requested within the last hour, skipped'),
    line(unconfirmed, 'requested within the last hour without a response, skipped'),
    line(accepted, `accepted by the service for reindexing (${formatCount(requests, 'request')})`),
    line(result.limited, 'at their hourly limit (429)'),
    line(result.unknown, 'unknown to the service (404)'),
    line(result.refused, 'refused by the service'),
    line(result.unanswered, 'without a response: may be refreshed; requested again after an hour'),
    line(result.remaining, dryRun ? 'to be requested' : 'left: run the same command again'),
    accepted > 0 && '  To get the refreshed metadata, export again with --fresh or a sufficient --lookback.',
  )
}
