import { APIS } from '../../core/model/api.ts'
import { ExportError } from '../../core/model/errors.ts'
import { createDataService } from '../../demo-server/create-data-service.ts'
import type { DataServiceOptions } from '../../demo-server/data-service.ts'
import { EXPLORER_QUIRKS, readExplorerQuirks } from '../../demo-server/explorer/quirks.ts'
import { listen } from '../../demo-server/listen.ts'
import { QUIRKS, readQuirks } from '../../demo-server/quirks.ts'
import { print } from '../../terminal/print.ts'
import { defineCommand, defineOptions, type OptionValues } from '../command.ts'
import { openLog } from '../options/log.ts'
import { readCount, readNumber } from '../options/option-parsers.ts'
import { waitForStopSignal } from '../signals.ts'

const options = defineOptions([
  { name: 'port', value: '<n>', default: '8787', description: 'Port to listen on; 0 for any free port' },
  {
    name: 'api',
    value: '<name>',
    choices: APIS,
    default: 'data-api',
    description: 'Serve the data service interface, or the API of an explorer over the same chains',
  },
  { name: 'host', value: '<address>', default: '127.0.0.1', description: 'Address to listen on' },
  {
    name: 'key',
    value: '<key>',
    repeatable: true,
    description: 'Accept only this API key (repeatable; for tests, not for secrets)',
  },
  {
    name: 'quota',
    value: '<n>',
    description: 'Maximum requests per second; more are answered as the API refuses them, such as with 429',
  },
  { name: 'burst', value: '<n>', description: 'Burst capacity of the quota' },
  {
    name: 'replay',
    value: '<seconds>',
    description: 'Add a block to the chain at this interval, with webhook deliveries',
  },
  {
    name: 'replay-from',
    value: '<block>',
    description: 'First head of the replay (default: the genesis block)',
  },
  { name: 'webhook-addresses', value: '<n>', description: 'Maximum addresses per webhook (default: 5)' },
  {
    name: 'signature',
    value: '<scheme>',
    choices: ['canonical', 'raw'],
    description: 'Sign webhook deliveries over canonical JSON or over the raw body',
  },
  {
    name: 'quirk',
    value: '<names>',
    repeatable: true,
    description: `Deviate from the interface, comma-separated: ${describeQuirks()}`,
  },
])
type ServeArguments = OptionValues<typeof options>

export const command = defineCommand({
  name: 'serve',
  summary: 'Start the embedded data service',
  description: 'Start the embedded data service with the demo chain',
  arguments: [],
  options,
  run: serve,
})

async function serve(args: ServeArguments): Promise<void> {
  const port = readCount('port', args.port, { min: 0, max: 65_535 }) ?? 0
  refuseWebhookOptions(args)
  const service = createDataService(optionsOf(args))
  const listening = await listen(service, { host: args.host, port })
  const what = args.api === 'data-api' ? 'data service' : `API of ${args.api}`
  print(`${what} on ${listening.url} (demo chain 43114); stop it with Ctrl-C`)
  await waitForStopSignal()
  await listening.close()
}

function refuseWebhookOptions({ api, signature, webhookAddresses }: ServeArguments): void {
  const option =
    signature !== undefined ? 'signature' : webhookAddresses !== undefined ? 'webhook-addresses' : undefined
  if (api === 'data-api' || option === undefined) return
  throw new ExportError('USAGE', `--${option} needs webhooks, which --api ${api} does not have`, {
    fix: `Remove --${option}, or use --api data-api.`,
  })
}

function describeQuirks(): string {
  const explorerQuirks = Object.entries(EXPLORER_QUIRKS).map(
    ([name, { api, about }]) => `${name} (--api ${api}: ${about})`,
  )
  return [...Object.entries(QUIRKS).map(([name, about]) => `${name} (${about})`), ...explorerQuirks].join(
    ', ',
  )
}

function optionsOf({ key = [], quirk = [], signature, ...args }: ServeArguments): DataServiceOptions {
  const [quota, burst] = [readNumber('quota', args.quota), readNumber('burst', args.burst)]
  return {
    ...apiOf(args, quirk),
    keys: key,
    quota: quota === undefined ? undefined : { perSecond: quota, burst },
    replay: replayOf(args),
    maxAddresses: readNumber('webhook-addresses', args.webhookAddresses),
    signature,
    onDelivery: ({ webhookId, status, nextDelayMs }) => {
      if (status === 200) return
      const next = nextDelayMs === undefined ? 'it is given up' : `again in ${nextDelayMs / 1000} s`
      openLog({}).info(`delivery to webhook ${webhookId} answered ${status ?? 'nothing'}: ${next}`)
    },
  }
}

function apiOf({ api }: Pick<ServeArguments, 'api'>, quirks: readonly string[]): DataServiceOptions {
  return api === 'data-api'
    ? { api, quirks: readQuirks(quirks) }
    : { api, explorerQuirks: readExplorerQuirks(quirks, api) }
}

function replayOf(args: Pick<ServeArguments, 'replay' | 'replayFrom'>): DataServiceOptions['replay'] {
  const seconds = readNumber('replay', args.replay)
  const from = readNumber('replay-from', args.replayFrom)
  if (seconds !== undefined) return { from, everyMs: seconds * 1000 }
  if (from === undefined) return undefined
  throw new ExportError('USAGE', '--replay-from needs --replay', {
    fix: 'Add --replay 2, to let the chain grow by a block every two seconds.',
  })
}
