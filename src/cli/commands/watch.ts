import { readSecret } from '../../job/read-secret.ts'
import { formatCount, formatDuration } from '../../terminal/format.ts'
import type { Log } from '../../terminal/log.ts'
import type { RunTrigger } from '../../watch/run-scheduler.ts'
import { type WatchOptions, watchJob } from '../../watch/watch.ts'
import { defineCommand, option } from '../command.ts'
import { keyOptions, readCredentials } from '../options/credentials.ts'
import { overrideOptions, readSingleJob } from '../options/jobs.ts'
import { logOptions, openLog, withSignals } from '../options/log.ts'
import { count, duration, endpoint, lookbackOption, receiverUrl } from '../options/parsers.ts'

export const command = defineCommand({
  name: 'watch',
  summary: 'Keep an export up to date with webhooks',
  description: 'Keep an export up to date with webhooks, until the process is stopped',
  arguments: [{ name: 'job', required: true, description: 'Job file without endBlock' }],
  options: [
    option('receiver-url <url>', 'Public URL at which the service reaches this machine: https://…', {
      parse: receiverUrl,
    }),
    option('listen <address>', 'Local address and port of the receiver; port 0 for any free port', {
      default: '127.0.0.1:8788',
      parse: endpoint({
        example: '127.0.0.1:8788',
        fix: 'Give the address and port that your --receiver-url leads to.',
      }),
    }),
    option('addresses-per-webhook <n>', 'Maximum addresses per webhook of your plan (default: 5)', {
      parse: count({ max: 100_000 }),
    }),
    option('secret-scheme <scheme>', 'Accept only this signature scheme', {
      choices: ['canonical', 'raw', 'none'],
    }),
    option('catch-up <duration>', 'Run at this interval if there are no events (default: 10m)', {
      parse: duration,
    }),
    lookbackOption,
    option('debounce <duration>', 'Wait this long after an event for more events', {
      default: '5s',
      parse: duration,
    }),
    ...overrideOptions,
    ...keyOptions,
    ...logOptions,
  ],
  examples: [
    [
      'watch jobs/mine.yaml --receiver-url https://me.example/hook',
      'Keep the export of jobs/mine.yaml up to date',
    ],
  ],
  epilogue: `Events only trigger a run: all exported data comes from the wallet listing. The
signing secret comes from WALLETLAKE_WEBHOOK_SECRET, from the file that
WALLETLAKE_WEBHOOK_SECRET_FILE names, or from the service. To remove the
webhooks, run \`webhooks remove <job>\`.`,
  run: async ({ job: file, ...args }) => {
    const job = await readSingleJob(file, args)
    const settings = {
      receiverUrl: args.receiverUrl ?? receiverUrl('', 'receiver-url'),
      listen: args.listen,
      addressesPerWebhook: args.addressesPerWebhook ?? 5,
      catchUpMs: args.catchUp ?? 600_000,
      ...args.lookback,
      debounceMs: args.debounce,
      secretScheme: args.secretScheme,
    }
    const secret = await readSecret('webhookSecret', process.env, openLog(args).warn)
    const secrets = { ...(await readCredentials(args)), secret }
    await withSignals(args, ({ log, requests }) =>
      watchJob(job, {
        ...settings,
        ...secrets,
        ...requests,
        onListening: (url) => log.info(`${job.name}: events are received on ${url}`),
        onRun: (ran) => logRun(ran, log),
      }),
    )
  },
})

const TRIGGER_TEXTS: Readonly<Record<RunTrigger, string>> = {
  start: 'at the start',
  event: 'after an event',
  late: 'again for events that the last run did not cover',
  'catch-up': 'at the catch-up interval',
}

function logRun({ trigger, result }: Parameters<NonNullable<WatchOptions['onRun']>>[0], log: Log): void {
  for (const { job, state, stats } of result.jobs) {
    const { transactions, requests, startedMs, rejects } = stats
    const counts = `${formatCount(transactions, 'transaction')}, ${formatCount(requests, 'request')}`
    const duration = formatDuration(Date.now() - startedMs)
    const rejected = rejects > 0 ? `, ${formatCount(rejects, 'record')} rejected` : ''
    if (state !== 'failed')
      log.info(`${job.name}: ${state}, run ${TRIGGER_TEXTS[trigger]} (${counts}${rejected}, ${duration})`)
  }
}
