// Whole processes that export one wallet from a loopback explorer, without latency: walletlake with all tables compared
// with a plain loop over the five listings that writes each as CSV (explorer-loop.js).
// Usage: npm run bench -- explorers [transactions, default 15000] [rounds, default 5] [folder of another build]
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { measure } from './run-measured.js'

const [SERVICE, LOOP] = ['./explorer-service.js', './explorer-loop.js'].map(
  (name) => new URL(name, import.meta.url).pathname,
)
const HERE = new URL('../..', import.meta.url).pathname
const WALLET = '0x0000000000000000000000000000000000001000'

/** Runs a measurement with a new explorer, a job for it, and a new folder. Removes them afterwards. */
export async function withExplorer(transactions, use) {
  const folder = mkdtempSync(join(tmpdir(), 'walletlake-bench-'))
  const service = spawn(process.execPath, [SERVICE, String(transactions)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  try {
    const url = String((await once(service.stdout, 'data'))[0]).trim()
    const job = join(folder, 'job.json')
    const endBlock = Math.floor(transactions / 3)
    writeFileSync(
      job,
      JSON.stringify({ chain: '43114', endBlock, addresses: [WALLET], service: { api: 'etherscan' } }),
    )
    return await use({ folder, url, job })
  } finally {
    service.kill()
    rmSync(folder, { recursive: true })
  }
}

export const benchExplorers = (transactions = 15_000, rounds = 5, ...builds) =>
  withExplorer(transactions, ({ folder, url, job }) => {
    const measured = Array.from({ length: rounds }, (_, round) => {
      const here = join(folder, String(round))
      mkdirSync(here)
      const exportWith = (build, at) =>
        measure([
          `${build}/dist/bin.js`,
          'run',
          job,
          '--base-url',
          url,
          '--output',
          join(here, `out-${at}`),
          '--quiet',
        ])
      return [measure([LOOP, url, WALLET, here]), ...[HERE, ...builds].map(exportWith)]
    })
    const [loop, ...ours] = measured[0].map((_, at) => medianOf(measured.map((run) => run[at])))
    const row = (name, { seconds, cpuSeconds, peakMB }) => ({
      explorer: name,
      seconds: seconds.toFixed(1),
      cpuSeconds: cpuSeconds.toFixed(2),
      timesItsCpu: (cpuSeconds / loop.cpuSeconds).toFixed(2),
      peakMB,
      timesItsMemory: (peakMB / loop.peakMB).toFixed(2),
    })
    console.table([
      row('loop over the five listings, CSV', loop),
      ...[HERE, ...builds].map((build, at) => row(`all tables, CSV: ${build}`, ours[at])),
    ])
  })

const median = (values) => values.sort((a, b) => a - b)[values.length >> 1]

function medianOf(runs) {
  const of = (figure) => median(runs.map((run) => run[figure]))
  return { seconds: of('seconds'), cpuSeconds: of('cpuSeconds'), peakMB: of('peakMB') }
}
