import type { CommandModule } from 'yargs'
import { createDataService } from '../service/create-data-service.ts'
import type { DataServiceOptions } from '../service/data-service.ts'
import { listen } from '../service/listen.ts'

type ServeArguments = {
  port: number
  host: string
  key: string[]
  quota?: number | undefined
  burst?: number | undefined
  replay?: number | undefined
  replayFrom?: number | undefined
  webhookAddresses?: number | undefined
  signature?: 'canonical' | 'raw' | undefined
}

export function serveCommand(): CommandModule<object, ServeArguments> {
  return {
    command: 'serve',
    describe: 'start the embedded data service over the demo chain',
    builder: (argv) =>
      argv
        .option('port', { type: 'number', default: 8787, describe: 'port to listen on; 0 takes a free one' })
        .option('host', { type: 'string', default: '127.0.0.1', describe: 'address to listen on' })
        .option('key', {
          type: 'string',
          array: true,
          default: [],
          describe: 'accept only this API key (repeatable; for trying, not for secrets)',
        })
        .option('quota', { type: 'number', describe: 'requests a second; over it 429' })
        .option('burst', { type: 'number', describe: 'requests at once within the quota' })
        .option('replay', {
          type: 'number',
          describe: 'let the chain grow by one block in so many seconds, with deliveries to webhooks',
        })
        .option('replay-from', {
          type: 'number',
          implies: 'replay',
          describe: 'head that the replay begins with; the genesis block unless told',
        })
        .option('webhook-addresses', { type: 'number', describe: 'addresses a webhook may watch; 5' })
        .option('signature', {
          choices: ['canonical', 'raw'] as const,
          describe: 'what deliveries are signed over: canonical JSON, or the body as sent',
        }),
    handler: serve,
  }
}

async function serve(given: ServeArguments): Promise<void> {
  const { host, port } = given
  const service = createDataService(optionsOf(given))
  const listening = await listen(service, { host, port })
  process.stdout.write(`data service on ${listening.url} (demo chain 43114); stop it with Ctrl-C\n`)
  await new Promise<void>((resolve) => {
    process.once('SIGINT', resolve)
    process.once('SIGTERM', resolve)
  })
  await listening.close()
}

function optionsOf({ key, quota, burst, replay, replayFrom, ...given }: ServeArguments): DataServiceOptions {
  return {
    keys: key,
    quota: quota === undefined ? undefined : { perSecond: quota, burst },
    replay: replay === undefined ? undefined : { from: replayFrom, everyMs: replay * 1000 },
    maxAddresses: given.webhookAddresses,
    signature: given.signature,
    onDelivery: ({ webhookId, status, nextDelayMs }) => {
      if (status === 200) return
      const next = nextDelayMs === undefined ? 'it is given up' : `again in ${nextDelayMs / 1000} s`
      process.stderr.write(`delivery to webhook ${webhookId} answered ${status ?? 'nothing'}: ${next}\n`)
    },
  }
}
