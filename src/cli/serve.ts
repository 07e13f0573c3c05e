import type { CommandModule } from 'yargs'
import { ExportError } from '../errors.ts'
import { createDataService } from '../service/create-data-service.ts'
import { listen } from '../service/listen.ts'

type ServeArguments = {
  port: number
  host: string
  key: string[]
  quota?: number | undefined
  burst?: number | undefined
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
        .option('burst', { type: 'number', describe: 'requests at once within the quota' }),
    handler: serve,
  }
}

async function serve({ port, host, key, quota, burst }: ServeArguments): Promise<void> {
  const limits =
    quota === undefined ? {} : { quota: { perSecond: quota, ...(burst === undefined ? {} : { burst }) } }
  const service = createDataService({ ...(key.length === 0 ? {} : { keys: key }), ...limits })
  const listening = await listen(service, { host, port }).catch((cause: NodeJS.ErrnoException) => {
    throw new ExportError('USAGE', `cannot listen on ${host}:${port}: ${cause.code ?? cause.message}`, {
      fix: 'Name a free port with --port; 0 takes any.',
    })
  })
  process.stdout.write(`data service on ${listening.url} (demo chain 43114); stop it with Ctrl-C\n`)
  await new Promise<void>((resolve) => {
    process.once('SIGINT', resolve)
    process.once('SIGTERM', resolve)
  })
  await listening.close()
}
