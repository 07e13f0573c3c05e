// An incremental run with nothing new for 100 wallets, and loading 10 million rows into DuckDB.
// Usage: npm run bench -- nightly [transactions of the loaded export, default 2400000]
import { readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DuckDBInstance } from '@duckdb/node-api'
import { runMeasured } from './run-measured.js'
import { walletsOf, withService } from './with-service.js'

const WALLETS = 100

export async function benchIncremental(transactions = 2_400_000) {
  console.table([await measureUnchangedRun(), await measureLoad(transactions)])
}

/** Measures the second run of a job without endBlock on a chain that has not grown. */
function measureUnchangedRun() {
  return withService({ dataset: 'thin', transactions: 150 }, async ({ folder, url }) => {
    const job = writeJob(folder, { wallets: WALLETS })
    const args = ['run', job, '--base-url', url, '--output', join(folder, 'out'), '--json']
    runMeasured(args)
    const { seconds, peakMB, stdout } = runMeasured(args)
    const [{ state, requests }] = JSON.parse(stdout).jobs
    if (state !== 'unchanged' || requests !== WALLETS) throw new Error(`${state}, ${requests} requests`)
    return {
      what: `${WALLETS} wallets, nothing new: ${requests} requests`,
      seconds: seconds.toFixed(2),
      peakMB,
    }
  })
}

function measureLoad(transactions) {
  return withService({ dataset: 'thin', transactions }, async ({ folder, url }) => {
    const job = writeJob(folder, { wallets: 1, endBlock: transactions })
    const [output, database] = [join(folder, 'out'), join(folder, 'lake.db')]
    runMeasured(['run', job, '--base-url', url, '--output', output, '--format', 'parquet', '--quiet'])
    const { tables } = JSON.parse(readFileSync(join(output, 'manifest.json'), 'utf8'))
    const rows = Object.values(tables).reduce((sum, table) => sum + table.rows, 0)
    const { seconds, peakMB } = runMeasured(['load', output, '--to', `duckdb:${database}`])
    const found = await countRows(database, Object.keys(tables))
    if (found !== rows) throw new Error(`${found} rows in the database, expected ${rows}`)
    const megabytes = Math.round(statSync(database).size / 1e6)
    return {
      what: `load of ${rows.toLocaleString('en')} rows into DuckDB (${megabytes} MB)`,
      seconds: seconds.toFixed(2),
      peakMB,
    }
  })
}

async function countRows(database, tables) {
  const instance = await DuckDBInstance.create(database)
  const connection = await instance.connect()
  let rows = 0
  for (const table of tables) {
    const [[count]] = (await connection.runAndReadAll(`select count(*) from "${table}"`)).getRows()
    rows += Number(count)
  }
  connection.closeSync()
  instance.closeSync()
  return rows
}

function writeJob(folder, { wallets, endBlock }) {
  const addresses = walletsOf(wallets)
  const path = join(folder, 'bench.json')
  writeFileSync(path, JSON.stringify({ chain: '43114', addresses, endBlock }))
  return path
}
