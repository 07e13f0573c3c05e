import type { QueueAddress } from '../../cluster/server/shared-server.ts'
import { FAILURES } from '../../core/model/errors.ts'
import { defineCommand, defineOptions, type OptionValues } from '../command.ts'
import { keyOptions, readCredentials } from '../options/credentials.ts'
import { readEndpoint } from '../options/endpoint.ts'
import { logOptions, openLog } from '../options/log.ts'
import { readCount, readDuration } from '../options/option-parsers.ts'
import { readQueueAddress } from '../options/queue-address.ts'

const options = defineOptions([
  {
    name: 'queue',
    value: '<url>',
    required: true,
    description: 'Redis server that all machines can reach: redis://host:6379',
  },
  {
    name: 'output',
    value: '<location>',
    repeatable: true,
    description:
      'Process only runs whose output is this folder or s3://bucket/prefix, or below it (repeatable)',
  },
  {
    name: 'concurrency',
    value: '<n>',
    default: '16',
    description: 'Maximum concurrent fetch tasks, 1 to 256',
  },
  {
    name: 'shutdown-timeout',
    value: '<duration>',
    default: '30s',
    description: 'Time to finish tasks after a stop signal; then they are handed back',
  },
  {
    name: 'metrics',
    value: '<address>',
    description: 'Serve Prometheus metrics at /metrics on this address, such as 0.0.0.0:9464',
  },
  ...keyOptions,
  ...logOptions,
])
type Arguments = OptionValues<typeof options>

export const command = defineCommand({
  name: 'worker',
  summary: 'Process the work of queued runs',
  description: 'Process the work of all runs on a queue, until the process is stopped',
  arguments: [],
  options,
  examples: [['worker --queue redis://queue:6379', 'Run this on any number of machines']],
  epilogue: `A worker needs no job file. \`run --queue\` stores the plan next to the output: in
an object store, or in a folder that all machines see under the same path. The
worker needs the same WALLETLAKE_API_KEY and the same version of walletlake as
the run, and uses the object store settings of its own environment. The Redis
password comes from WALLETLAKE_REDIS_PASSWORD, or from the file that
WALLETLAKE_REDIS_PASSWORD_FILE names. SIGTERM stops the worker; running tasks
are finished or handed back.`,
  run: worker,
})

/** Margin after the shutdown timeout before the process exits, in case the queue is unreachable. */
const SHUTDOWN_MARGIN_MS = 5_000

async function worker(args: Arguments): Promise<void> {
  const options = {
    queue: await readQueueAddress(args.queue),
    roots: args.output ?? [],
    concurrency: readCount('concurrency', args.concurrency, { max: 256 }) ?? 16,
    shutdownMs: readDuration('shutdown-timeout', args.shutdownTimeout) ?? 30_000,
    ...(await readCredentials(args)),
  }
  const log = openLog(args)
  const controller = new AbortController()
  const shutDown = (name: string) => {
    if (!controller.signal.aborted)
      log.info(`${name}: no new tasks; running tasks are finished or handed back`)
    controller.abort()
    setTimeout(() => process.exit(FAILURES.TERMINATED.exit), options.shutdownMs + SHUTDOWN_MARGIN_MS).unref()
  }
  process.on('SIGTERM', () => shutDown('SIGTERM'))
  process.on('SIGINT', () => shutDown('SIGINT'))
  const { runWorker } = await import('../../cluster/worker.ts')
  const metrics = await openMetrics(args, options.queue, log)
  try {
    await runWorker({ ...options, signal: controller.signal, onNotice: log.info })
  } finally {
    await metrics?.close()
  }
}

async function openMetrics(
  { metrics }: Arguments,
  queue: QueueAddress,
  log: Pick<ReturnType<typeof openLog>, 'info'>,
) {
  if (metrics === undefined) return undefined
  const endpoint = readEndpoint('metrics', metrics, {
    example: '0.0.0.0:9464',
    fix: 'Give the address and port for Prometheus to scrape.',
  })
  const { serveMetrics } = await import('../../cluster/metrics.ts')
  const served = await serveMetrics(queue, endpoint)
  log.info(`metrics on ${served.url}`)
  return served
}
