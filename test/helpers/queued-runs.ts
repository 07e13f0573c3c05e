import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import { createDataService } from '../../src/demo-server/create-data-service.ts'
import { startCommand } from './command.ts'
import { type Fault, startLoopback } from './loopback.ts'
import { demoWallets } from './node-data.ts'
import { outputBytes } from './output-bytes.ts'
import type { TestServer } from './shared-servers.ts'
import { tempFolder } from './temp-folder.ts'

export const ADDRESSES = demoWallets.slice(0, 16).map((address) => address.toLowerCase())

/** Writes a job file for 16 wallets, by default with partitions. Returns its path. */
export function writeJob(folder: string, more = 'endBlock: 421\npartitionBy: blocks:100\n'): string {
  const file = join(folder, 'many.yaml')
  const list = ADDRESSES.map((address) => `  - { address: "${address}" }`).join('\n')
  writeFileSync(file, `chain: 43114\naddresses:\n${list}\n${more}`)
  return file
}

/** Prepares an empty queue server, a data service, and a folder shared by all workers. */
export async function setUpQueue(server: TestServer, fault?: Fault) {
  await server.flush()
  const folder = tempFolder()
  const service = await startLoopback(createDataService(), fault)
  const job = writeJob(folder)
  const env: NodeJS.ProcessEnv = { WALLETLAKE_BASE_URL: service.url }
  return {
    folder,
    job,
    service,
    env,
    writeJob: (more: string) => writeJob(folder, more),
    startWorker: (...more: string[]) => {
      const args = ['worker', '--queue', server.url, '--concurrency', '3', ...more]
      const worker = startCommand(args, env, { cwd: folder })
      onTestFinished(() => void worker.kill('SIGKILL'))
      return worker
    },
    /** Runs the job over the queue, into the output `many`. */
    runQueued: () =>
      startCommand(['run', job, '--output', 'many', '--queue', server.url], env, { cwd: folder }).ended,
    /** Runs the job without a queue, into the output `alone`. */
    runAlone: () => startCommand(['run', job, '--output', 'alone'], env, { cwd: folder }).ended,
    bytesOf: (output: 'many' | 'alone') => outputBytes(join(folder, output)),
  }
}
