// Reconciles 1,000 wallets of ten tokens each, 16 readers, with a service that answers after 80 to 160 ms.
// Usage: npm run bench -- reconcile [wallets, default 1000] [tokens, default 10]
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { runMeasured } from './run-measured.js'
import { walletsOf } from './with-service.js'

const SERVICE = new URL('./balances-service.js', import.meta.url).pathname

export async function benchReconcile(wallets = 1000, tokens = 10) {
  const folder = mkdtempSync(join(tmpdir(), 'walletlake-bench-'))
  const service = spawn(process.execPath, [SERVICE, JSON.stringify({ tokens, delayMs: [80, 160] })])
  try {
    const url = String((await once(service.stdout, 'data'))[0]).trim()
    const [job, output] = [join(folder, 'bench.json'), join(folder, 'out')]
    const addresses = walletsOf(wallets)
    writeFileSync(job, JSON.stringify({ chain: '43114', endBlock: wallets + 1, addresses }))
    runMeasured(['run', job, '--base-url', url, '--output', output, '--quiet'])
    const planned = runMeasured(['plan', job, '--base-url', url, '--output', output, '--reconcile']).stdout
    const measured = runMeasured(['reconcile', output, '--base-url', url, '--quiet'])
    const { balanceRequests } = await (await fetch(`${url}/stats`)).json()
    const { seconds, cpuSeconds, peakMB } = measured
    const { wallets: verdict } = JSON.parse(readFileSync(join(output, 'reconciliation.json'), 'utf8'))
    console.log(
      `plan: ${planned
        .split('\n')
        .find((line) => line.includes('reconcile'))
        ?.trim()}`,
    )
    console.log(`verdict: ${JSON.stringify(verdict)}`)
    console.table([{ wallets, tokens, seconds, cpuSeconds, peakMB, balanceRequests }])
  } finally {
    service.kill()
    rmSync(folder, { recursive: true })
  }
}
