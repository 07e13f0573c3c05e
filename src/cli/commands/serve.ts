import { APIS } from '../../core/model/api.ts'
import { createDataService } from '../../demo-server/create-data-service.ts'
import type { DataServiceOptions } from '../../demo-server/data-service.ts'
import { listen } from '../../demo-server/listen.ts'
import { EXPLORER_QUIRKS, QUIRKS, readExplorerQuirks, readQuirks } from '../../demo-server/quirks.ts'
import { print } from '../../terminal/print.ts'
import { defineCommand, type OptionValues, option } from '../command.ts'
import { openLog } from '../options/log.ts'
import { count, decimal } from '../options/parsers.ts'
import { waitForStopSignal } from '../signals.ts'
import { usageError } from '../usage-error.ts'

const options = [
  option('port <n>', 'Port to listen on; 0 for any free port', {
    default: '8787',
    parse: count({ min: 0, max: 65_535 }),
  }),
  option('api <name>', 'Serve the data service interface, or the API of an explorer over the same chains', {
    choices: APIS,
    default: 'data-api',
  }),
  option('host <address>', 'Address to listen on', { default: '127.0.0.1' }),
  option('key <key>', 'Accept only this API key (repeatable; for tests, not for secrets)', {
    repeatable: true,
  }),
  option(
    'quota <n>',
    'Maximum requests per second; more are answered as the API refuses them, such as with 429',
    { parse: decimal },
  ),
  option('burst <n>', 'Burst capacity of the quota', { parse: decimal }),
  option('replay <seconds>', 'Add a block to the chain at this interval, with webhook deliveries', {
    parse: decimal,
  }),
  option('replay-from <block>', 'First head of the replay (default: the genesis block)', { parse: decimal }),
  option('webhook-addresses <n>', 'Maximum addresses per webhook (default: 5)', { parse: decimal }),
  option('signature <scheme>', 'Sign webhook deliveries over canonical JSON or over the raw body', {
    choices: ['canonical', 'raw'],
  }),
  option('quirk <names>', `Deviate from the interface, comma-separated: ${describeQuirks()}`, {
    repeatable: true,
  }),
]
type ServeArguments = OptionValues<typeof options>

export const command = defineCommand({
  name: 'serve',
  summary: 'Start the embedded data service',
  description: 'Start the embedded data service with the demo chain',
  arguments: [],
  options,
  run: async (args) => {
    const { api, host, port, signature, webhookAddresses } = args
    const webhookOption =
      signature !== undefined ? 'signature' : webhookAddresses !== undefined ? 'webhook-addresses' : undefined
    if (api !== 'data-api' && webhookOption !== undefined)
      throw usageError(
        `--${webhookOption} needs webhooks, which --api ${api} does not have`,
        `Remove --${webhookOption}, or use --api data-api.`,
      )
    const listening = await listen(createDataService(optionsOf(args)), { host, port })
    const what = api === 'data-api' ? 'data service' : `API of ${api}`
    print(`${what} on ${listening.url} (demo chain 43114); stop it with Ctrl-C`)
    await waitForStopSignal()
    await listening.close()
  },
})

function describeQuirks(): string {
  const explorerQuirks = Object.entries(EXPLORER_QUIRKS).map(
    ([name, { api, about }]) => `${name} (--api ${api}: ${about})`,
  )
  return [...Object.entries(QUIRKS).map(([name, about]) => `${name} (${about})`), ...explorerQuirks].join(
    ', ',
  )
}

function optionsOf({ api, key = [], quirk = [], signature, ...args }: ServeArguments): DataServiceOptions {
  const { quota, burst, webhookAddresses } = args
  const quirks =
    api === 'data-api'
      ? { api, quirks: readQuirks(quirk) }
      : { api, explorerQuirks: readExplorerQuirks(quirk, api) }
  return {
    ...quirks,
    keys: key,
    quota: quota === undefined ? undefined : { perSecond: quota, burst },
    replay: replayOf(args),
    maxAddresses: webhookAddresses,
    signature,
    onDelivery: ({ webhookId, status, nextDelayMs }) => {
      if (status === 200) return
      const next = nextDelayMs === undefined ? 'it is given up' : `again in ${nextDelayMs / 1000} s`
      openLog({}).info(`delivery to webhook ${webhookId} answered ${status ?? 'nothing'}: ${next}`)
    },
  }
}

function replayOf({
  replay: seconds,
  replayFrom: from,
}: Pick<ServeArguments, 'replay' | 'replayFrom'>): DataServiceOptions['replay'] {
  if (seconds !== undefined) return { from, everyMs: seconds * 1000 }
  if (from === undefined) return undefined
  throw usageError(
    '--replay-from needs --replay',
    'Add --replay 2, to let the chain grow by a block every two seconds.',
  )
}
