// Time until another worker takes over the task of a killed one, in seconds, several times.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'

const BIN = new URL('../../../dist/bin.js', import.meta.url).pathname
const WALLET = `0x${'11'.repeat(20)}`
/** Time within which a started worker registers at the queue. */
const WORKER_START_MS = 3_000

export async function measureHandover(queue, times = 3) {
  const seconds = []
  for (let nth = 0; nth < times; nth += 1) seconds.push(await handOver(queue, nth))
  console.table([{ 'takeover of the task of a killed worker, seconds': seconds.join(', ') }])
}

async function handOver(queue, nth) {
  const folder = mkdtempSync(join(tmpdir(), 'walletlake-handover-'))
  const [service, nextRequest] = await unresponsiveService()
  const job = join(folder, 'job.json')
  const fields = { chain: '43114', endBlock: 10 + nth, partitionBy: 'blocks:5', addresses: [WALLET] }
  const baseUrl = `http://127.0.0.1:${service.address().port}`
  writeFileSync(job, JSON.stringify({ ...fields, service: { baseUrl, timeout: '120s' } }))
  const start = (...args) =>
    spawn(process.execPath, [BIN, ...args, '--queue', queue, '--quiet'], { stdio: 'inherit' })
  const processes = [start('worker'), start('run', job, '--output', join(folder, 'out'))]
  try {
    await nextRequest()
    processes.push(start('worker'))
    await wait(WORKER_START_MS)
    const began = performance.now()
    processes[0].kill('SIGKILL')
    await nextRequest()
    return ((performance.now() - began) / 1_000).toFixed(1)
  } finally {
    for (const one of processes) one.kill('SIGKILL')
    await Promise.all(processes.map((one) => one.exitCode ?? one.signalCode ?? once(one, 'close')))
    service.closeAllConnections()
    service.close()
    rmSync(folder, { recursive: true, force: true })
  }
}

/** Starts a service that never responds. Returns it with a function that waits for its next request. */
async function unresponsiveService() {
  let onRequest = () => {}
  const service = createServer(() => onRequest())
  service.listen(0, '127.0.0.1')
  await once(service, 'listening')
  return [
    service,
    () =>
      new Promise((resolve) => {
        onRequest = resolve
      }),
  ]
}
