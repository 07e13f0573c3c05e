import { type Command, Option } from 'commander'
import { ExportError } from '../core/errors.ts'
import { say } from '../report/say.ts'
import { createDataService } from '../service/create-data-service.ts'
import type { DataServiceOptions } from '../service/data-service.ts'
import { listen } from '../service/listen.ts'
import { readCount, readNumber } from './amounts.ts'
import { collect } from './collect.ts'
import { openLog } from './log.ts'
import { stopAsked } from './signals.ts'

type ServeArguments = {
  port: string
  host: string
  key?: string[]
  quota?: string
  burst?: string
  replay?: string
  replayFrom?: string
  webhookAddresses?: string
  signature?: 'canonical' | 'raw'
}

export function serveCommand(program: Command): void {
  program
    .command('serve')
    .summary('start the embedded data service')
    .description('start the embedded data service over the demo chain')
    .option('--port <n>', 'port to listen on; 0 takes a free one', '8787')
    .option('--host <address>', 'address to listen on', '127.0.0.1')
    .option('--key <key>', 'accept only this API key (repeatable; for trying, not for secrets)', collect)
    .option('--quota <n>', 'requests a second; over it 429')
    .option('--burst <n>', 'requests at once within the quota')
    .option('--replay <seconds>', 'let the chain grow by a block every so often, with deliveries to webhooks')
    .option('--replay-from <block>', 'head that the replay begins with (default: the genesis block)')
    .option('--webhook-addresses <n>', 'addresses a webhook may watch (default: 5)')
    .addOption(
      new Option(
        '--signature <scheme>',
        'deliveries are signed over canonical JSON, or the body as sent',
      ).choices(['canonical', 'raw']),
    )
    .action(serve)
}

async function serve(given: ServeArguments): Promise<void> {
  const port = readCount('port', given.port, { least: 0, most: 65_535 }) ?? 0
  const service = createDataService(optionsOf(given))
  const listening = await listen(service, { host: given.host, port })
  say(`data service on ${listening.url} (demo chain 43114); stop it with Ctrl-C`)
  await stopAsked()
  await listening.close()
}

function optionsOf({ key = [], signature, ...given }: ServeArguments): DataServiceOptions {
  const [quota, burst] = [readNumber('quota', given.quota), readNumber('burst', given.burst)]
  return {
    keys: key,
    quota: quota === undefined ? undefined : { perSecond: quota, burst },
    replay: replayOf(given),
    maxAddresses: readNumber('webhook-addresses', given.webhookAddresses),
    signature,
    onDelivery: ({ webhookId, status, nextDelayMs }) => {
      if (status === 200) return
      const next = nextDelayMs === undefined ? 'it is given up' : `again in ${nextDelayMs / 1000} s`
      openLog({}).info(`delivery to webhook ${webhookId} answered ${status ?? 'nothing'}: ${next}`)
    },
  }
}

function replayOf(given: Pick<ServeArguments, 'replay' | 'replayFrom'>): DataServiceOptions['replay'] {
  const seconds = readNumber('replay', given.replay)
  const from = readNumber('replay-from', given.replayFrom)
  if (seconds !== undefined) return { from, everyMs: seconds * 1000 }
  if (from === undefined) return undefined
  throw new ExportError('USAGE', '--replay-from needs --replay', {
    fix: 'Add --replay 2, to let the chain grow by a block every two seconds.',
  })
}
