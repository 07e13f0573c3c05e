import { Argument, type Command } from 'commander'
import { ExportError } from '../../core/model/errors.ts'
import { type OpenedService, openService, type ServiceAccess } from '../../sources/data-api/open-service.ts'
import { formatCount } from '../../terminal/format.ts'
import { print, printJson } from '../../terminal/print.ts'
import { deleteOrEmptyWebhook } from '../../watch/delete-webhook.ts'
import { type FoundWebhook, findWebhooks } from '../../watch/find-webhooks.ts'
import { savedWebhooks, webhookMatcherOf } from '../../watch/job-webhooks.ts'
import { type KeyArguments, keyOption, readCredentials } from '../options/credentials.ts'
import { type Overrides, overrideOptions, readSingleJob } from '../options/jobs.ts'
import { logOptions, withSignals } from '../options/log.ts'
import { readReceiverUrl } from '../options/receiver-url.ts'
import { readAccess } from '../options/service.ts'

type Action = 'list' | 'remove'
type WebhooksArguments = Overrides & KeyArguments & { allOfUrl?: string; json?: boolean }

export function webhooksCommand(program: Command): void {
  const command = program
    .command('webhooks')
    .summary('List or remove the webhooks of `watch`')
    .description('List or remove the webhooks that `watch` created')
    .addArgument(new Argument('<action>', 'Action').choices(['list', 'remove']))
    .argument('[job]', 'Job file that the webhooks belong to')
    .option(
      '--all-of-url <url>',
      'Instead of a job: all webhooks of the API key whose receiver URL is this one or below it',
    )
    .option('--json', 'Print a JSON list on stdout')
  logOptions(keyOption(overrideOptions(command))).action(webhooks)
}

async function webhooks(action: Action, file: string | undefined, args: WebhooksArguments): Promise<void> {
  const { access, find } = await selectWebhooks(file, args)
  await withSignals(args, async ({ log, signal }) => {
    const service = await openService({ ...access, signal, onDetail: log.debug, onNotice: log.info })
    try {
      const found = await find(service)
      const active = found.filter(({ status }) => status !== 'inactive')
      if (action === 'remove')
        await Promise.all(active.map((webhook) => deleteOrEmptyWebhook(service.client, webhook, signal)))
      printWebhooks(action === 'remove' ? active : found, { action, json: args.json })
    } finally {
      await service.close()
    }
  })
}

type WebhookSelection = { access: ServiceAccess; find: (service: OpenedService) => Promise<FoundWebhook[]> }

/** The service, and which of its webhooks are meant. */
async function selectWebhooks(
  file: string | undefined,
  { allOfUrl, ...args }: WebhooksArguments,
): Promise<WebhookSelection> {
  if ((file === undefined) === (allOfUrl === undefined))
    throw new ExportError('USAGE', 'whose webhooks are meant is not clear', {
      fix: 'Name a job file, or a receiver with --all-of-url.',
    })
  if (file === undefined) {
    const url = readReceiverUrl('all-of-url', allOfUrl)
    const matchesUrl = (webhook: { url: string }) => webhook.url === url || webhook.url.startsWith(`${url}/`)
    const find = async ({ client, signal }: OpenedService) =>
      (await findWebhooks(client, matchesUrl, signal)) ?? cannotList()
    return { access: await readAccess(args), find }
  }
  const job = await readSingleJob(file, args)
  const belongsToJob = await webhookMatcherOf(job)
  const find = async ({ client, signal }: OpenedService) =>
    (await findWebhooks(client, belongsToJob, signal)) ?? (await savedWebhooks(job))
  return { access: { ...job.service, ...(await readCredentials(args)) }, find }
}

function cannotList(): never {
  throw new ExportError('REQUEST_REFUSED', 'the service does not list webhooks (404)', {
    fix: 'Name the job instead: its webhooks are remembered in its output.',
  })
}

type PrintOptions = { action: Action; json: boolean | undefined }

function printWebhooks(webhooks: readonly FoundWebhook[], { action, json }: PrintOptions): void {
  const shown = webhooks.map(({ url, ...webhook }) => ({ ...webhook, url: hideToken(url) }))
  if (json) {
    printJson(shown)
    return
  }
  for (const { id, status, chain, addresses, name, url } of shown) {
    const state = action === 'remove' ? 'removed' : status
    const line = `${id}  ${state}  chain ${chain}  ${formatCount(addresses.length, 'wallet')}  ${name}  ${url}`
    print(line)
  }
  if (shown.length === 0) print('no webhooks')
}

/** Who knows a receiver's whole path can send it events. */
function hideToken(url: string): string {
  return url.replace(/[0-9a-f]{64}$/, (token) => `${token.slice(0, 4)}…`)
}
