import type { CommandModule } from 'yargs'
import { type OpenedService, openService, type ServiceAccess } from '../client/open-service.ts'
import { ExportError } from '../core/errors.ts'
import { readApiKey } from '../job/read-api-key.ts'
import { say, sayJson } from '../report/say.ts'
import { counted } from '../report/words.ts'
import { dropWebhook } from '../watch/drop-webhook.ts'
import { type FoundWebhook, findWebhooks } from '../watch/find-webhooks.ts'
import { rememberedWebhooks, webhooksOfJob } from '../watch/job-webhooks.ts'
import { type Overrides, overrideOptions, readJobs } from './jobs.ts'
import { type LogArguments, logOptions, withSignals } from './log.ts'
import { readReceiverUrl } from './receiver-url.ts'
import { readAccess } from './service.ts'

type WebhooksArguments = Overrides &
  LogArguments & {
    action: 'list' | 'remove'
    job?: string | undefined
    allOfUrl?: string | undefined
    json: boolean
  }

export function webhooksCommand(): CommandModule<object, WebhooksArguments> {
  return {
    command: 'webhooks <action> [job]',
    describe: 'list or remove the webhooks that `watch` has created',
    builder: (argv) =>
      logOptions(
        overrideOptions(
          argv
            .positional('action', {
              choices: ['list', 'remove'] as const,
              describe: 'what to do with them',
              demandOption: true,
            })
            .positional('job', { describe: 'the job file whose webhooks are meant', type: 'string' }),
        ).option('all-of-url', {
          type: 'string',
          describe: 'or all of the key whose receiver is at this URL or below',
          requiresArg: true,
        }),
      ).option('json', { type: 'boolean', default: false, describe: 'one JSON list on stdout' }),
    handler: webhooks,
  }
}

async function webhooks(args: WebhooksArguments): Promise<void> {
  const { access, find } = await choose(args)
  await withSignals(args, async ({ log, signal }) => {
    const service = await openService({ ...access, signal, onDetail: log.debug })
    try {
      const found = await find(service)
      const active = found.filter(({ status }) => status !== 'inactive')
      if (args.action === 'remove')
        await Promise.all(active.map((webhook) => dropWebhook(service.client, webhook, signal)))
      tell(args.action === 'remove' ? active : found, args)
    } finally {
      await service.close()
    }
  })
}

type Choice = { access: ServiceAccess; find: (service: OpenedService) => Promise<FoundWebhook[]> }

/** The service, and which of its webhooks are meant. */
async function choose({ job: file, allOfUrl, ...args }: WebhooksArguments): Promise<Choice> {
  if ((file === undefined) === (allOfUrl === undefined))
    throw new ExportError('USAGE', 'whose webhooks are meant is not clear', {
      fix: 'Name a job file, or a receiver with --all-of-url.',
    })
  if (file === undefined) {
    const url = readReceiverUrl('all-of-url', allOfUrl)
    const isBelow = (webhook: { url: string }) => webhook.url === url || webhook.url.startsWith(`${url}/`)
    const find = async ({ client, signal }: OpenedService) =>
      (await findWebhooks(client, isBelow, signal)) ?? cannotList()
    return { access: await readAccess(args, process.env), find }
  }
  const [job] = await readJobs({ ...args, jobs: [file] })
  if (job === undefined) throw new ExportError('USAGE', `no job ${file}`)
  const isOurs = await webhooksOfJob(job)
  const find = async ({ client, signal }: OpenedService) =>
    (await findWebhooks(client, isOurs, signal)) ?? (await rememberedWebhooks(job))
  return { access: { ...job.service, apiKey: await readApiKey(process.env) }, find }
}

function cannotList(): never {
  throw new ExportError('REQUEST_REFUSED', 'the service does not list webhooks (404)', {
    fix: 'Name the job instead: its webhooks are remembered in its output.',
  })
}

function tell(found: readonly FoundWebhook[], { action, json }: WebhooksArguments): void {
  const shown = found.map(({ url, ...webhook }) => ({ ...webhook, url: hideToken(url) }))
  if (json) {
    sayJson(shown)
    return
  }
  for (const { id, status, chain, addresses, name, url } of shown) {
    const state = action === 'remove' ? 'removed' : status
    const line = `${id}  ${state}  chain ${chain}  ${counted(addresses.length, 'wallet')}  ${name}  ${url}`
    say(line)
  }
  if (shown.length === 0) say('no webhooks')
}

/** Who knows a receiver's whole path can send it events. */
function hideToken(url: string): string {
  return url.replace(/[0-9a-f]{64}$/, (token) => `${token.slice(0, 4)}…`)
}
