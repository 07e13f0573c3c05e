// Peak memory of whole export processes (maximum resident set size), for one wallet and for many, with a loopback
// service.
// Usage: npm run bench -- memory [dense|thin] [transactions of the large run, default 1000000]
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { chooseDatasets } from './datasets.js'
import { runMeasured } from './run-measured.js'
import { walletsOf, withService } from './with-service.js'

export async function benchMemory(...args) {
  const { datasets, numbers } = chooseDatasets(args)
  for (const dataset of datasets) await benchDataset(dataset, ...numbers)
}

async function benchDataset(dataset, large = 1_000_000) {
  const small = large / 10
  const rows = []
  for (const format of ['csv', 'parquet']) {
    const one = { dataset, label: `one wallet, ${small} transactions`, wallets: 1, blocks: small, format }
    rows.push(
      await measure(one),
      await measure({ ...one, label: `one wallet, ${large} transactions`, blocks: large }),
    )
    const wallets = large / 50
    rows.push(await measure({ ...one, label: `${wallets} wallets of 10 transactions`, wallets, blocks: 10 }))
    const [first, ...others] = rows.slice(-3)
    for (const row of others) row.againstFirst = (row.peakMB / first.peakMB).toFixed(2)
  }
  console.table(rows)
}

function measure({ dataset, label, wallets, blocks, format }) {
  return withService({ dataset, transactions: blocks }, ({ folder, url }) => {
    const [path, output] = [join(folder, 'bench.json'), join(folder, 'out')]
    const job = { name: 'bench', chain: '43114', endBlock: blocks, format, addresses: walletsOf(wallets) }
    writeFileSync(path, JSON.stringify(job))
    const { seconds, cpuSeconds, peakMB } = runMeasured([
      'run',
      path,
      '--base-url',
      url,
      '--output',
      output,
      '--quiet',
    ])
    requireRows(output, wallets * blocks)
    return {
      [dataset]: label,
      format,
      peakMB,
      seconds: seconds.toFixed(1),
      cpuSeconds: cpuSeconds.toFixed(1),
    }
  })
}

function requireRows(output, expected) {
  const { tables } = JSON.parse(readFileSync(join(output, 'manifest.json'), 'utf8'))
  if (tables.transactions.rows !== expected)
    throw new Error(`${tables.transactions.rows} rows, expected ${expected}`)
}
