// npm run soak -- machines [kills, default 100] [runs, default 20] [seed]: runs over
// a queue whose workers, coordinator and server are killed at random; every run's bytes are held against those of one machine.
import { execFile, spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { promisify } from 'node:util'
import { startQueueServer } from '../helpers/queue-server.js'

const ROOT = new URL('../../', import.meta.url).pathname
const BIN = join(ROOT, 'dist/bin.js')
const WORKERS = 3
const WALLETS = /0x[\da-fA-F]{40}/g

export async function soakMachines(args) {
  const [kills = '100', runs = '20', seed = '1'] = args.filter((arg) => /^\d+$/.test(arg))
  const folder = mkdtempSync(join(tmpdir(), 'walletlake-soak-'))
  const dice = random(Number(seed))
  const server = await startQueueServer()
  const service = spawn(process.execPath, [BIN, 'serve', '--port', '0', '--quota', '60'])
  try {
    const url = /http:\S+/.exec(String((await once(service.stdout, 'data'))[0]))[0]
    const job = writeJob(folder, url)
    await promisify(execFile)(process.execPath, [
      BIN,
      'run',
      job,
      '--output',
      join(folder, 'alone'),
      '--quiet',
    ])
    const calm = bytesOf(join(folder, 'alone'))
    const each = Math.ceil(Number(kills) / Number(runs))
    for (let run = 0; run < Number(runs); run += 1) {
      const output = join(folder, `run-${run}`)
      const told = await runKilled({ job, output, server, dice, kills: each })
      if (bytesOf(output) !== calm) throw new Error(`run ${run} of seed ${seed} wrote other bytes: ${output}`)
      console.log(`run ${run}: ${told}, same bytes`)
      rmSync(output, { recursive: true })
    }
  } finally {
    service.kill()
    await server.stop()
    rmSync(folder, { recursive: true, force: true })
  }
}

/** One run, with so many kills; who is killed is started again at once, as an operator's machines do. */
async function runKilled({ job, output, server, dice, kills }) {
  const startWorker = () =>
    spawn(process.execPath, [BIN, 'worker', '--queue', server.url, '--quiet', '--concurrency', '4'], {
      stdio: 'ignore',
    })
  const startRun = () =>
    spawn(process.execPath, [BIN, 'run', job, '--output', output, '--queue', server.url, '--quiet'])
  const workers = Array.from({ length: WORKERS }, startWorker)
  let run = startRun()
  const told = []
  try {
    for (let kill = 0; kill < kills && run.exitCode === null; kill += 1) {
      await wait(300 + dice() * 2_500)
      if (run.exitCode !== null) break
      const whom = Math.floor(dice() * 5)
      if (whom < WORKERS) {
        workers[whom].kill('SIGKILL')
        workers[whom] = startWorker()
        told.push('worker')
      } else if (whom === WORKERS) {
        await end(run)
        run = startRun()
        told.push('run')
      } else {
        await server.restart()
        told.push('server')
      }
    }
    const [exit] = run.exitCode === null ? await once(run, 'exit') : [run.exitCode]
    if (exit !== 0) throw new Error(`exit ${exit} after killing ${told}: ${run.stderr.read()}`)
    return `killed ${told.join(', ') || 'nobody'}`
  } finally {
    for (const worker of workers) worker.kill('SIGKILL')
    run.kill('SIGKILL')
  }
}

async function end(process) {
  const ended = once(process, 'exit')
  process.kill('SIGKILL')
  await ended
}

function writeJob(folder, url) {
  const text = readFileSync(join(ROOT, 'src/service/demo-wallets.ts'), 'utf8')
  const addresses = [...new Set(text.match(WALLETS))].slice(0, 25)
  const job = { chain: '43114', name: 'soak', endBlock: 421, partitionBy: 'blocks:60', addresses }
  const path = join(folder, 'soak.json')
  writeFileSync(path, JSON.stringify({ ...job, service: { baseUrl: url } }))
  return path
}

function bytesOf(folder) {
  const hash = createHash('sha256')
  const files = readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath, name).slice(folder.length + 1))
    .filter((path) => !path.startsWith('runs/') && !path.startsWith('.walletlake/'))
  for (const path of files.sort()) hash.update(path).update(readFileSync(join(folder, path)))
  return hash.digest('hex')
}

function random(seed) {
  let state = seed
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    return state / 2 ** 32
  }
}
