import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const SERVICE = new URL('./synthetic-service.js', import.meta.url).pathname

/** Measures against a synthetic service of its own, in a folder of its own; both are gone when it resolves. */
export async function withService(options, measure) {
  const folder = mkdtempSync(join(tmpdir(), 'walletlake-bench-'))
  const service = spawn(process.execPath, [SERVICE, JSON.stringify(options)])
  try {
    const url = String((await once(service.stdout, 'data'))[0]).trim()
    return await measure({ folder, url })
  } finally {
    service.kill()
    rmSync(folder, { recursive: true })
  }
}

/** The addresses of the service's first wallets. */
export function walletsOf(count) {
  return Array.from({ length: count }, (_, at) => `0x${(at + 4096).toString(16).padStart(40, '0')}`)
}
