import type { CommandModule } from 'yargs'
import { ExportError } from '../core/errors.ts'
import { readApiKey } from '../job/read-api-key.ts'
import { readWebhookSecret } from '../job/read-webhook-secret.ts'
import type { Log } from '../report/log.ts'
import { counted, lasting } from '../report/words.ts'
import { type WatchOptions, watchJob } from '../watch/watch.ts'
import { readCount, readDuration } from './amounts.ts'
import { type Overrides, overrideOptions, readJobs } from './jobs.ts'
import { type LogArguments, logOptions, withSignals } from './log.ts'
import { readReceiverUrl } from './receiver-url.ts'

type WatchArguments = Overrides &
  LogArguments & {
    job: string
    receiverUrl?: string | undefined
    listen: string
    addressesPerWebhook?: string | undefined
    secretScheme?: 'canonical' | 'raw' | 'none' | undefined
    catchUp?: string | undefined
    reread?: string | undefined
    debounce: string
  }

export function watchCommand(): CommandModule<object, WatchArguments> {
  return {
    command: 'watch <job>',
    describe: 'keep an export up to date by webhooks, until it is stopped',
    builder: (argv) =>
      logOptions(
        overrideOptions(
          argv.positional('job', {
            describe: 'a job file without endBlock',
            type: 'string',
            demandOption: true,
          }),
        )
          .option('receiver-url', {
            type: 'string',
            describe: 'where the service reaches this machine: https://…',
            requiresArg: true,
          })
          .option('listen', {
            type: 'string',
            default: '127.0.0.1:8788',
            describe: 'address and port that it leads to; port 0 takes any',
            requiresArg: true,
          })
          .option('addresses-per-webhook', {
            type: 'string',
            describe: 'as many as your plan allows; 5 unless told',
            requiresArg: true,
          })
          .option('secret-scheme', {
            choices: ['canonical', 'raw', 'none'] as const,
            describe: 'how events are signed; either way unless told',
          })
          .option('catch-up', {
            type: 'string',
            describe: 'run without an event after this long; 10m unless told',
            requiresArg: true,
          })
          .option('reread', {
            type: 'string',
            describe: 'each run reads the last N blocks again (late indexing); 100 unless told',
            requiresArg: true,
          })
          .option('debounce', {
            type: 'string',
            default: '5s',
            describe: 'wait after an event for others',
            requiresArg: true,
          }),
      )
        .example('$0 watch jobs/mine.yaml --receiver-url https://me.example/hook', 'keep it up to date')
        .epilogue(EPILOGUE),
    handler: watch,
  }
}

const EPILOGUE = `Events are hints: what is written always comes from the listing. The secret that
signs them comes from WALLETLAKE_WEBHOOK_SECRET or WALLETLAKE_WEBHOOK_SECRET_FILE,
else from the service. \`walletlake webhooks remove <job>\` ends the webhooks.`

async function watch(args: WatchArguments): Promise<void> {
  const [job] = await readJobs({ ...args, jobs: [args.job] })
  if (job === undefined) throw new ExportError('USAGE', `no job ${args.job}`)
  const given = {
    receiverUrl: readReceiverUrl('receiver-url', args.receiverUrl),
    listen: readListen(args.listen),
    addressesPerWebhook: readCount('addresses-per-webhook', args.addressesPerWebhook, { most: 100_000 }) ?? 5,
    catchUpMs: readDuration('catch-up', args.catchUp) ?? 600_000,
    rereadBlocks: readCount('reread', args.reread, { least: 0 }) ?? 100,
    debounceMs: readDuration('debounce', args.debounce) ?? 0,
  }
  const secrets = { apiKey: await readApiKey(process.env), secret: await readWebhookSecret(process.env) }
  await withSignals(args, async ({ log, signal }) => {
    await watchJob(job, {
      ...{ ...given, ...secrets, secretScheme: args.secretScheme, signal },
      ...{ onNotice: log.info, onDetail: log.debug },
      onListening: (url) => log.info(`${job.name}: events are received on ${url}`),
      onRun: (ran) => tellRun(ran, log),
    })
  })
}

function tellRun({ why, result }: Parameters<NonNullable<WatchOptions['onRun']>>[0], log: Log): void {
  for (const { job, state, figures } of result.jobs) {
    const { transactions, requests, startedMs, rejects } = figures
    const about = `${counted(transactions, 'transaction')}, ${counted(requests, 'request')}`
    const took = lasting(Date.now() - startedMs)
    const aside = rejects > 0 ? `, ${counted(rejects, 'record')} set aside` : ''
    if (state !== 'failed') log.info(`${job.name}: ${state} after ${why} (${about}${aside}, ${took})`)
  }
}

/** `host:port`, `[::1]:port` or a port alone. */
function readListen(text: string): WatchOptions['listen'] {
  const [, bracketed, plain, digits = ''] = /^(?:(?:\[([^\]]+)\]|([^:[\]\s]+)):)?(\d{1,5})$/.exec(text) ?? []
  const port = Number(digits)
  if (digits !== '' && port <= 65_535) return { host: bracketed ?? plain ?? '127.0.0.1', port }
  throw new ExportError('USAGE', `--listen: found ${text}, expected an address and a port: 127.0.0.1:8788`, {
    fix: 'Give the address and port that your --receiver-url leads to.',
  })
}
