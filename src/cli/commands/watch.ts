import { readSecret } from '../../job/read-secret.ts'
import { formatCount, formatDuration } from '../../terminal/format.ts'
import type { Log } from '../../terminal/log.ts'
import type { RunTrigger } from '../../watch/run-scheduler.ts'
import { type WatchOptions, watchJob } from '../../watch/watch.ts'
import { defineCommand, defineOptions, type OptionValues } from '../command.ts'
import { keyOptions, readCredentials } from '../options/credentials.ts'
import { readEndpoint } from '../options/endpoint.ts'
import { overrideOptions, readSingleJob } from '../options/jobs.ts'
import { logOptions, openLog, withSignals } from '../options/log.ts'
import { LOOKBACK_TEXT, readCount, readDuration, readLookback } from '../options/option-parsers.ts'
import { readReceiverUrl } from '../options/receiver-url.ts'

const options = defineOptions([
  {
    name: 'receiver-url',
    value: '<url>',
    description: 'Public URL at which the service reaches this machine: https://…',
  },
  {
    name: 'listen',
    value: '<address>',
    default: '127.0.0.1:8788',
    description: 'Local address and port of the receiver; port 0 for any free port',
  },
  {
    name: 'addresses-per-webhook',
    value: '<n>',
    description: 'Maximum addresses per webhook of your plan (default: 5)',
  },
  {
    name: 'secret-scheme',
    value: '<scheme>',
    choices: ['canonical', 'raw', 'none'],
    description: 'Accept only this signature scheme',
  },
  {
    name: 'catch-up',
    value: '<duration>',
    description: 'Run at this interval if there are no events (default: 10m)',
  },
  {
    name: 'lookback',
    value: '<blocks|duration>',
    description: LOOKBACK_TEXT,
  },
  {
    name: 'debounce',
    value: '<duration>',
    default: '5s',
    description: 'Wait this long after an event for more events',
  },
  ...overrideOptions,
  ...keyOptions,
  ...logOptions,
])
type WatchArguments = OptionValues<typeof options>

export const command = defineCommand({
  name: 'watch',
  summary: 'Keep an export up to date with webhooks',
  description: 'Keep an export up to date with webhooks, until the process is stopped',
  arguments: [{ name: 'job', required: true, description: 'Job file without endBlock' }],
  options,
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
  run: ({ job, ...args }) => watch(job, args),
})

async function watch(file: string, args: WatchArguments): Promise<void> {
  const job = await readSingleJob(file, args)
  const watchOptions = {
    receiverUrl: readReceiverUrl('receiver-url', args.receiverUrl),
    listen: readEndpoint('listen', args.listen, {
      example: '127.0.0.1:8788',
      fix: 'Give the address and port that your --receiver-url leads to.',
    }),
    addressesPerWebhook: readCount('addresses-per-webhook', args.addressesPerWebhook, { max: 100_000 }) ?? 5,
    catchUpMs: readDuration('catch-up', args.catchUp) ?? 600_000,
    ...readLookback(args.lookback),
    debounceMs: readDuration('debounce', args.debounce) ?? 0,
  }
  const secret = await readSecret('webhookSecret', process.env, openLog(args).warn)
  const secrets = { ...(await readCredentials(args)), secret }
  await withSignals(args, async ({ log, signal }) => {
    await watchJob(job, {
      ...watchOptions,
      ...secrets,
      secretScheme: args.secretScheme,
      signal,
      onNotice: log.info,
      onDetail: log.debug,
      onListening: (url) => log.info(`${job.name}: events are received on ${url}`),
      onRun: (ran) => logRun(ran, log),
    })
  })
}

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
