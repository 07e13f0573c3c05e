import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { runMeasured } from './run-measured.js'

const SERVICE = new URL('./synthetic-service.js', import.meta.url).pathname

/** Runs a measurement with a new synthetic service and a new folder. Removes both afterwards. */
export async function withService(options, measure) {
  const folder = mkdtempSync(join(tmpdir(), 'walletlake-bench-'))
  const service = spawn(process.execPath, [SERVICE, JSON.stringify(options)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  try {
    const url = String((await once(service.stdout, 'data'))[0]).trim()
    return await measure({ folder, url })
  } finally {
    service.kill()
    rmSync(folder, { recursive: true })
  }
}

/** Exports the ledger of one busy wallet, then runs a measurement of what uses it. `output` is the export. */
export function withLedger({ transactions, format, tables = ['ledger'] }, measure) {
  return withService({ dataset: 'dense', transactions }, ({ folder, url }) => {
    const [job, output] = [join(folder, 'bench.json'), join(folder, 'out')]
    const fields = {
      chain: '43114',
      endBlock: transactions,
      addresses: walletsOf(1),
      tables,
      format,
    }
    writeFileSync(job, JSON.stringify(fields))
    runMeasured(['run', job, '--base-url', url, '--output', output, '--quiet'])
    return measure({ folder, output })
  })
}

/** The addresses of the first wallets of the service. */
export function walletsOf(count) {
  return Array.from({ length: count }, (_, at) => `0x${(at + 4096).toString(16).padStart(40, '0')}`)
}
