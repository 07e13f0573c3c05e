import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import { createDataService } from '../../src/demo-server/create-data-service.ts'
import { runCommand, startCommand } from '../helpers/command.ts'
import { send, startLoopback } from '../helpers/loopback.ts'
import { startRedis } from '../helpers/start-redis.ts'
import { tempFolder } from '../helpers/temp-folder.ts'

/**
 * Runs a job over a queue whose machines share only an object store: each has its own folders, and one of the
 * three workers is killed. Resolves with the command's exit code and whether the worker was killed.
 */
export async function runOverQueue(job: string, endpoint: string) {
  const redis = await startRedis()
  onTestFinished(() => redis.stop())
  let kill = () => {}
  const service = await startLoopback(createDataService(), ({ count }) =>
    count === 12
      ? (response, answer) => {
          kill()
          send(response, answer)
        }
      : undefined,
  )
  const env = { WALLETLAKE_BASE_URL: service.url, AWS_ENDPOINT_URL_S3: endpoint }
  const machine = () => {
    const cwd = tempFolder()
    const TMPDIR = join(cwd, 'tmp')
    mkdirSync(TMPDIR)
    return { cwd, env: { ...env, TMPDIR } }
  }
  const workers = [1, 2, 3].map(() => {
    const { cwd, env } = machine()
    return startCommand(['worker', '--queue', redis.url, '--concurrency', '3'], env, { cwd })
  })
  onTestFinished(() => {
    for (const worker of workers) worker.kill('SIGKILL')
  })
  kill = () => workers[0]?.kill('SIGKILL')
  const { cwd, env: own } = machine()
  const { exit } = await runCommand(['run', job, '--quiet', '--queue', redis.url], own, { cwd })
  return { exit, isKilled: workers[0]?.killed }
}
