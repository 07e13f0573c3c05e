// 10,000 wallets on four workers, compared with the same job on one machine: the files must be identical; seconds. Then
// the cost of planning 100,000 wallets: seconds, memory of the run and of the queue server.
import { execFile, spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { walletsOf, withService } from '../with-service.js'
import { queueMemory } from './queue-size.js'

const BIN = new URL('../../../dist/bin.js', import.meta.url).pathname
const WORKERS = 4
const TRANSACTIONS_PER_WALLET = 20

export async function measureManyWallets(wallets, queue) {
  await withService(
    { dataset: 'thin', transactions: TRANSACTIONS_PER_WALLET, delayMs: [20, 40] },
    async ({ folder, url }) => {
      const job = writeJob({ folder, url, wallets })
      const together = await runOnWorkers({ folder, job, queue })
      const alone = await seconds(() =>
        walletlake(['run', job, '--output', join(folder, 'alone'), '--quiet']),
      )
      requireSameBytes(join(folder, 'many'), join(folder, 'alone'))
      console.table([
        {
          wallets,
          transactions: wallets * TRANSACTIONS_PER_WALLET,
          'seconds, 4 workers': together,
          'seconds, one machine': alone,
        },
      ])
      console.table([await measurePlanning({ folder, url, queue, wallets: 10 * wallets })])
    },
  )
}

function writeJob({ folder, url, wallets }) {
  const path = join(folder, `job-${wallets}.json`)
  const job = {
    chain: '43114',
    name: 'bench',
    endBlock: TRANSACTIONS_PER_WALLET,
    partitionBy: 'blocks:2',
    service: { baseUrl: url },
  }
  writeFileSync(path, JSON.stringify({ ...job, addresses: walletsOf(wallets) }))
  return path
}

const walletlake = (args) => promisify(execFile)(process.execPath, [BIN, ...args])

async function seconds(task) {
  const began = performance.now()
  await task()
  return ((performance.now() - began) / 1000).toFixed(1)
}

async function runOnWorkers({ folder, job, queue }) {
  const work = [BIN, 'worker', '--queue', queue, '--quiet']
  const workers = Array.from({ length: WORKERS }, () => spawn(process.execPath, work, { stdio: 'inherit' }))
  const run = ['run', job, '--output', join(folder, 'many'), '--queue', queue, '--quiet']
  const took = await seconds(() => walletlake(run))
  for (const worker of workers) worker.kill()
  await Promise.all(workers.map((worker) => once(worker, 'close')))
  return took
}

function requireSameBytes(one, other) {
  const [mine, theirs] = [bytesOf(one), bytesOf(other)]
  if (mine !== theirs) throw new Error('the files of several workers differ from those of one machine')
}

function bytesOf(folder) {
  const files = readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath, name).slice(folder.length + 1))
    .filter((path) => !path.startsWith('runs/') && !path.startsWith('.walletlake/'))
  const hash = createHash('sha256')
  for (const path of files.sort()) hash.update(path).update(readFileSync(join(folder, path)))
  return hash.digest('hex')
}

/** Measures a run without workers until all of its tasks are in the queue. */
async function measurePlanning({ folder, url, queue, wallets }) {
  const job = writeJob({ folder, url, wallets })
  const began = performance.now()
  const args = [BIN, 'run', job, '--output', join(folder, 'planned'), '--queue', queue, '--quiet']
  const run = spawn(process.execPath, args, { stdio: 'ignore' })
  let tasks = 0
  while (tasks < wallets / 25) {
    const { stdout } = await walletlake(['status', '--queue', queue, '--json'])
    const planned = JSON.parse(stdout).runs.find(({ output }) => output === join(folder, 'planned'))
    tasks = planned?.tasks.read.remaining ?? 0
  }
  const took = ((performance.now() - began) / 1000).toFixed(1)
  const [, peakKB] = /VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${run.pid}/status`, 'utf8')) ?? []
  const bytes = await queueMemory(queue)
  run.kill()
  await once(run, 'close')
  return {
    'planned wallets': wallets,
    tasks,
    seconds: took,
    'run, MB': Math.round(peakKB / 1024),
    'server, MB': Math.round(bytes / 2 ** 20),
  }
}
