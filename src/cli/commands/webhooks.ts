import { ExportError } from '../../core/model/errors.ts'
import { type OpenedService, openService } from '../../sources/data-api/open-service.ts'
import type { ServiceAccess } from '../../sources/service-access.ts'
import { formatCount } from '../../terminal/format.ts'
import type { Log } from '../../terminal/log.ts'
import { print, printJson } from '../../terminal/print.ts'
import { savedWebhooks, webhookMatcherOf } from '../../watch/job-webhooks.ts'
import { deleteOrEmptyWebhook, type FoundWebhook, findWebhooks, type Removal } from '../../watch/webhooks.ts'
import { defineCommand, type OptionValues, option } from '../command.ts'
import { keyOptions, readCredentials } from '../options/credentials.ts'
import { overrideOptions, readSingleJob } from '../options/jobs.ts'
import { logOptions, withSignals } from '../options/log.ts'
import { receiverUrl } from '../options/parsers.ts'
import { parseConcurrency, readAccess } from '../options/service.ts'
import { STARTS_OVER } from '../signals.ts'
import { usageError } from '../usage-error.ts'

const options = [
  option(
    'all-of-url <url>',
    'Instead of a job: all webhooks of the API key whose receiver URL is this one or below it',
    { parse: receiverUrl },
  ),
  option('json', 'Print a JSON list on stdout'),
  ...overrideOptions,
  ...keyOptions,
  ...logOptions,
]
type WebhooksArguments = OptionValues<typeof options>

export const command = defineCommand({
  name: 'webhooks',
  summary: 'List or remove the webhooks of `watch`',
  description: 'List or remove the webhooks that `watch` created',
  arguments: [
    { name: 'action', required: true, choices: ['list', 'remove'], description: 'Action' },
    { name: 'job', description: 'Job file that the webhooks belong to' },
  ],
  options,
  run: async ({ action, job: file, ...args }) => {
    const { access, find } = await selectWebhooks(file, args)
    await withSignals({ ...args, interruption: STARTS_OVER }, async ({ log, signal, requests }) => {
      const service = await openService({ ...access, ...requests })
      try {
        const webhooks = await find(service)
        const active = webhooks.filter(({ status }) => status !== 'inactive')
        if (action === 'list') return printWebhooks(webhooks, args)
        const removed = await Promise.all(
          active.map(async (webhook) => ({
            ...webhook,
            status: await deleteOrEmptyWebhook(service.client, webhook, signal),
          })),
        )
        printWebhooks(removed, args)
        reportRemovals(removed, log)
      } finally {
        await service.close()
      }
    })
  },
})

type WebhookSelection = { access: ServiceAccess; find: (service: OpenedService) => Promise<FoundWebhook[]> }

/** Returns how to access the service and how to find the selected webhooks. */
async function selectWebhooks(
  file: string | undefined,
  { allOfUrl, ...args }: WebhooksArguments,
): Promise<WebhookSelection> {
  if ((file === undefined) === (allOfUrl === undefined))
    throw usageError(
      'it is not clear whose webhooks to use',
      'Name a job file, or a receiver with --all-of-url.',
    )
  if (file === undefined) {
    const matchesUrl = ({ url }: { url: string }) => `${url}/`.startsWith(`${allOfUrl}/`)
    const find = async ({ client, signal }: OpenedService) =>
      (await findWebhooks(client, matchesUrl, signal)) ?? cannotList()
    const { concurrency: given, ...others } = args
    const concurrency = given === undefined ? undefined : parseConcurrency(given)
    return { access: await readAccess(others, { concurrency }), find }
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

/** Says that webhooks still exist. Throws REQUEST_REFUSED if some still send events. */
function reportRemovals(removed: readonly (FoundWebhook & { status: Removal })[], log: Log): void {
  const count = (removal: Removal) => removed.filter(({ status }) => status === removal).length
  if (count('emptied') > 0)
    log.info('emptied: the service does not delete webhooks; without addresses they send no more events')
  if (count('not removed') > 0)
    throw new ExportError(
      'REQUEST_REFUSED',
      `the service neither deletes nor empties ${formatCount(count('not removed'), 'webhook')}`,
      { fix: 'Remove them with the website of the service.' },
    )
}

function printWebhooks(webhooks: readonly FoundWebhook[], { json }: { json?: boolean }): void {
  const shown = webhooks.map(({ url, ...webhook }) => ({ ...webhook, url: hideToken(url) }))
  if (json) {
    printJson(shown)
    return
  }
  for (const { id, status, chain, addresses, name, url } of shown) {
    const line = `${id}  ${status}  chain ${chain}  ${formatCount(addresses.length, 'wallet')}  ${name}  ${url}`
    print(line)
  }
  if (shown.length === 0) print('no webhooks')
}

/** Shortens the token in the path of a receiver URL. Anyone who knows the full URL can send events to it. */
function hideToken(url: string): string {
  return url.replace(/[0-9a-f]{64}$/, (token) => `${token.slice(0, 4)}…`)
}
