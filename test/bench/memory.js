// Peak memory of whole export processes (resident set, by the kernel), one wallet and many, against a loopback service.
// Usage: npm run bench -- memory [transactions of the large run, default 1000000]
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { runMeasured } from './run-measured.js'

const SERVICE = new URL('./synthetic-service.js', import.meta.url).pathname

export async function benchMemory(large = 1_000_000) {
  const small = large / 10
  const rows = []
  for (const format of ['csv', 'parquet']) {
    const one = { label: `one wallet, ${small} transactions`, wallets: 1, blocks: small, format }
    rows.push(
      await measure(one),
      await measure({ ...one, label: `one wallet, ${large} transactions`, blocks: large }),
    )
    const wallets = large / 50
    rows.push(await measure({ label: `${wallets} wallets of 10 transactions`, wallets, blocks: 10, format }))
    const [first, ...others] = rows.slice(-3)
    for (const row of others) row.againstFirst = (row.peakMB / first.peakMB).toFixed(2)
  }
  console.table(rows)
}

async function measure({ label, wallets, blocks, format }) {
  const folder = mkdtempSync(join(tmpdir(), 'walletlake-bench-'))
  const service = spawn(process.execPath, [SERVICE, JSON.stringify({ transactions: blocks })])
  try {
    const [url] = await once(service.stdout, 'data')
    const addresses = Array.from(
      { length: wallets },
      (_, at) => `0x${(at + 4096).toString(16).padStart(40, '0')}`,
    )
    const job = { name: 'bench', chain: '43114', endBlock: blocks, format, addresses }
    writeFileSync(join(folder, 'bench.json'), JSON.stringify(job))
    const { seconds, peakMB } = runMeasured([
      'run',
      join(folder, 'bench.json'),
      '--base-url',
      String(url).trim(),
      '--output',
      join(folder, 'out'),
      '--quiet',
    ])
    requireRows(join(folder, 'out'), wallets * blocks)
    return { case: label, format, peakMB, seconds: seconds.toFixed(1) }
  } finally {
    service.kill()
    rmSync(folder, { recursive: true })
  }
}

function requireRows(output, expected) {
  const { tables } = JSON.parse(readFileSync(join(output, 'manifest.json'), 'utf8'))
  if (tables.transactions.rows !== expected)
    throw new Error(`${tables.transactions.rows} rows, expected ${expected}`)
}
