import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import { createDataService } from '../../src/demo-server/create-data-service.ts'
import { DEMO_WALLETS } from '../../src/demo-server/demo-wallets.ts'
import { runCommand, startCommand } from './command.ts'
import { type Fault, startLoopback } from './loopback.ts'
import { outputBytes } from './output-bytes.ts'
import type { TestServer } from './shared-servers.ts'
import { tempFolder } from './temp-folder.ts'

export const ADDRESSES = DEMO_WALLETS.slice(0, 16).map((address) => address.toLowerCase())

/** A job of some wallets in partitions. */
export function writeJob(folder: string, more = 'endBlock: 421\npartitionBy: blocks:100\n'): string {
  const file = join(folder, 'many.yaml')
  const list = ADDRESSES.map((address) => `  - { address: "${address}" }`).join('\n')
  writeFileSync(file, `chain: 43114\naddresses:\n${list}\n${more}`)
  return file
}

/** An emptied server, a service, and a folder that all workers see. */
export async function setUpQueue(server: TestServer, fault?: Fault) {
  await server.flush()
  const folder = tempFolder()
  const service = await startLoopback(createDataService(), fault)
  const job = writeJob(folder)
  const env: NodeJS.ProcessEnv = { WALLETLAKE_BASE_URL: service.url }
  return {
    ...{ folder, job, service, env },
    writeJob: (more: string) => writeJob(folder, more),
    startWorker: (...more: string[]) => {
      const args = ['worker', '--queue', server.url, '--concurrency', '3', ...more]
      const worker = startCommand(args, env, { cwd: folder })
      onTestFinished(() => void worker.kill('SIGKILL'))
      return worker
    },
    /** Into `many`, by workers. */
    runQueued: () =>
      runCommand(['run', job, '--output', 'many', '--queue', server.url], env, { cwd: folder }),
    /** Into `alone`, on one machine. */
    runAlone: () => runCommand(['run', job, '--output', 'alone'], env, { cwd: folder }),
    bytesOf: (output: 'many' | 'alone') => outputBytes(join(folder, output)),
  }
}
