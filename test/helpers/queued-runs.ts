import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished } from 'vitest'
import { type QueueRunOptions, runOverQueue } from '../../src/cluster/run-over-queue.ts'
import { runWorker, type WorkOptions } from '../../src/cluster/worker.ts'
import type { Job } from '../../src/core/model/model.ts'
import { createDataService } from '../../src/demo-server/create-data-service.ts'
import { runCommand, startCommand } from './command.ts'
import { type Fault, startLoopback } from './loopback.ts'
import { demoWallets, smallWallets } from './node-data.ts'
import { outputBytes } from './output-bytes.ts'
import type { TestServer } from './shared-servers.ts'
import { tempFolder } from './temp-folder.ts'

/** Sixteen wallets that take some thirty requests, and other ones with a page or two. */
export const ADDRESSES = [
  ...smallWallets.slice(0, 11),
  ...[12, 23, 24, 51, 52].map((at) => demoWallets[at] ?? ''),
]
export const OTHER_ADDRESSES = [smallWallets[11] ?? '', demoWallets[36] ?? '', demoWallets[29] ?? '']

/** Writes a job file, by default with partitions. Returns its path. */
export function writeJob(
  folder: string,
  more = 'endBlock: 421\npartitionBy: blocks:100\n',
  addresses: readonly string[] = ADDRESSES,
): string {
  const file = join(folder, 'many.yaml')
  const list = addresses.map((address) => `  - { address: "${address}" }`).join('\n')
  writeFileSync(file, `chain: 43114\naddresses:\n${list}\n${more}`)
  return file
}

/** Starts a worker in this process. It stops when the test ends. */
function startWorker(url: string, options: Partial<WorkOptions> = {}) {
  const stop = new AbortController()
  const notices: string[] = []
  const ended = runWorker({
    queue: { url },
    signal: stop.signal,
    concurrency: 3,
    shutdownMs: 0,
    onNotice: (notice) => notices.push(notice),
    ...options,
  })
  const stopWorker = async () => {
    stop.abort()
    await ended
    return notices.join('\n')
  }
  onTestFinished(() => void stopWorker())
  return { stop: stopWorker }
}

/** Runs a job over a queue with one worker, both in this process. */
export async function runQueued(url: string, job: Job, options: Partial<QueueRunOptions> = {}) {
  const worker = startWorker(url, { concurrency: 2 })
  try {
    const result = await runOverQueue([job], { queue: { url }, ...options })
    const { error, stats, state } = result.jobs[0] ?? {}
    return { ...result, code: result.code, error, figures: stats, state }
  } finally {
    await worker.stop()
  }
}

/** Prepares an empty queue server, a data service, and a folder shared by all workers, with a job of these wallets. */
export async function setUpQueue(server: TestServer, fault?: Fault, addresses?: readonly string[]) {
  await server.flush()
  const folder = tempFolder()
  const service = await startLoopback(createDataService(), fault)
  const job = writeJob(folder, undefined, addresses)
  const env: NodeJS.ProcessEnv = { WALLETLAKE_BASE_URL: service.url }
  const queuedRun = ['run', job, '--output', 'many', '--queue', server.url]
  const start = (args: readonly string[]) => {
    const started = startCommand(args, env, { cwd: folder })
    onTestFinished(() => void started.kill('SIGKILL'))
    return started
  }
  const runAlone = () => runCommand(['run', job, '--output', 'alone'], env, { cwd: folder })
  return {
    folder,
    job,
    service,
    env,
    writeJob: (more?: string, addresses?: readonly string[]) => writeJob(folder, more, addresses),
    startWorker: (options?: Partial<WorkOptions>) => startWorker(server.url, options),
    startWorkerProcess: (...more: string[]) =>
      start(['worker', '--queue', server.url, '--concurrency', '3', ...more]),
    /** Runs the job over the queue, into the output `many`. */
    runQueued: (...more: string[]) => runCommand([...queuedRun, ...more], env, { cwd: folder }),
    startQueuedRun: () => start(queuedRun),
    /** Runs the job without a queue, into the output `alone`. */
    runAlone,
    /** Runs the job without a queue too, and asserts that the queued run wrote the same bytes. */
    expectSameAsAlone: async () => {
      expect(await runAlone()).toMatchObject({ exit: 0 })
      const bytes = outputBytes(join(folder, 'many'))
      expect(bytes).toEqual(outputBytes(join(folder, 'alone')))
      return bytes
    },
  }
}
