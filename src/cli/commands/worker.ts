import type { QueueAddress } from '../../cluster/server.ts'
import { FAILURES } from '../../core/model/errors.ts'
import type { Endpoint } from '../../core/platform/http-server.ts'
import type { Log } from '../../terminal/log.ts'
import { defineCommand, option } from '../command.ts'
import { keyOptions, readCredentials, readQueueAddress } from '../options/credentials.ts'
import { logOptions, openLog } from '../options/log.ts'
import { count, duration, endpoint } from '../options/parsers.ts'

export const command = defineCommand({
  name: 'worker',
  summary: 'Process the work of queued runs',
  description: 'Process the work of all runs on a queue, until the process is stopped',
  arguments: [],
  options: [
    option('queue <url>', 'Redis server that all machines can reach: redis://host:6379', { required: true }),
    option(
      'output <location>',
      'Process only runs whose output is this folder or s3://bucket/prefix, or below it (repeatable)',
      { repeatable: true },
    ),
    option('concurrency <n>', 'Maximum concurrent fetch tasks, 1 to 256', {
      default: '16',
      parse: count({ max: 256 }),
    }),
    option(
      'shutdown-timeout <duration>',
      'Time to finish tasks after a stop signal; then they are handed back',
      { default: '30s', parse: duration },
    ),
    option(
      'metrics <address>',
      'Serve Prometheus metrics at /metrics on this address, such as 0.0.0.0:9464',
      {
        parse: endpoint({
          example: '0.0.0.0:9464',
          fix: 'Give the address and port for Prometheus to scrape.',
        }),
      },
    ),
    ...keyOptions,
    ...logOptions,
  ],
  examples: [['worker --queue redis://queue:6379', 'Run this on any number of machines']],
  epilogue: `A worker needs no job file. \`run --queue\` stores the plan next to the output: in
an object store, or in a folder that all machines see under the same path. The
worker needs the same WALLETLAKE_API_KEY and the same version of walletlake as
the run, and uses the object store settings of its own environment. The Redis
password comes from WALLETLAKE_REDIS_PASSWORD, or from the file that
WALLETLAKE_REDIS_PASSWORD_FILE names. SIGTERM stops the worker; running tasks
are finished or handed back.`,
  run: async (args) => {
    const options = {
      queue: await readQueueAddress(args.queue),
      roots: args.output ?? [],
      concurrency: args.concurrency,
      shutdownMs: args.shutdownTimeout,
      ...(await readCredentials(args)),
    }
    const log = openLog(args)
    const controller = new AbortController()
    const shutDown = (name: string) => {
      if (!controller.signal.aborted)
        log.info(`${name}: no new tasks; running tasks are finished or handed back`)
      controller.abort()
      setTimeout(
        () => process.exit(FAILURES.TERMINATED.exit),
        options.shutdownMs + SHUTDOWN_MARGIN_MS,
      ).unref()
    }
    process.on('SIGTERM', () => shutDown('SIGTERM'))
    process.on('SIGINT', () => shutDown('SIGINT'))
    const { runWorker } = await import('../../cluster/worker.ts')
    const metrics =
      args.metrics === undefined ? undefined : await openMetrics(options.queue, args.metrics, log)
    try {
      await runWorker({ ...options, signal: controller.signal, onNotice: log.info })
    } finally {
      await metrics?.close()
    }
  },
})

/** Margin after the shutdown timeout before the process exits, in case the queue is unreachable. */
const SHUTDOWN_MARGIN_MS = 5_000

async function openMetrics(queue: QueueAddress, address: Endpoint, log: Log) {
  const { serveMetrics } = await import('../../cluster/inspect-queue.ts')
  const served = await serveMetrics(queue, address)
  log.info(`metrics on ${served.url}`)
  return served
}
