// Utilization of the concurrent readers of a run, with a loopback service that delays its responses. Only the
// transactions table is written, except in the last two rows, which write all seven tables.
// 1: one wallet with 16 readers, compared with one reader, which reads one page after another.
// 2: 200 wallets with 32 readers, compared with the ideal time (requests x mean delay / 32).
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { TABLE_NAMES } from '../../dist/core/table/index.js'
import { run } from '../../dist/export/run.js'
import { chooseDatasets } from './datasets.js'
import { walletsOf, withService } from './with-service.js'

const DELAY_MS = [80, 160]
const MEAN_MS = 120

export async function benchPaging(...args) {
  for (const dataset of chooseDatasets(args).datasets) await benchDataset(dataset)
}

async function benchDataset(dataset) {
  const one = { dataset, transactions: 60_000, wallets: 1, concurrency: 16 }
  const many = { dataset, transactions: 20_000, wallets: 200, concurrency: 32, spread: 200 }
  const base = await measure('one wallet, 60,000 transactions, one reader', { ...one, concurrency: 1 })
  const rows = [
    base,
    await measure('the same, 16 readers', one),
    await measure('the same, bursty, 16 readers', { ...one, bursty: true }),
    await measure('200 wallets, 1 to 20,000 transactions', many),
    await measure('200 wallets, 1 to 20,000, bursty', { ...many, bursty: true }),
    await measure('one wallet, 16 readers, seven tables', { ...one, tables: TABLE_NAMES }),
    await measure('200 wallets, 1 to 20,000, seven tables', { ...many, tables: TABLE_NAMES }),
  ]
  for (const row of [rows[1], rows[2], rows[5]]) row.timesOneReader = (base.seconds / row.seconds).toFixed(1)
  console.table(rows)
}

function measure(label, { dataset, transactions, spread, bursty = false, ...jobOptions }) {
  const { wallets, concurrency } = jobOptions
  const options = { dataset, transactions, spread, bursty, delayMs: DELAY_MS }
  return withService(options, async ({ folder, url }) => {
    const { pagingMs, wholeMs, received } = await page(jobFor({ ...jobOptions, folder, url }))
    const { requests, maxInFlight } = await (await fetch(`${url}/stats`)).json()
    const sizes = Array.from({ length: wallets }, (_, at) =>
      spread === undefined ? transactions : Math.max(1, Math.round((transactions * at) / (spread - 1))),
    )
    const total = sizes.reduce((sum, size) => sum + size, 0)
    if (received !== total) throw new Error(`${received} transactions, expected ${total}`)
    if (maxInFlight > concurrency) throw new Error(`${maxInFlight} requests in flight`)
    const pages = sizes.reduce((sum, size) => sum + Math.ceil(size / 100), 0)
    return {
      [dataset]: label,
      seconds: (pagingMs / 1000).toFixed(2),
      ofIdeal: `${(((requests * MEAN_MS) / concurrency / pagingMs) * 100).toFixed(1)} %`,
      extraRequests: `${((requests / pages - 1) * 100).toFixed(2)} %`,
      inFlight: maxInFlight,
      endsLater: `${((wholeMs / pagingMs - 1) * 100).toFixed(1)} %`,
    }
  })
}

/** Runs the job. Returns the milliseconds until the last page has arrived, and until the end of the run. */
async function page(job) {
  const started = performance.now()
  let pagingMs = 0
  const { jobs } = await run([job], {
    onStart: ([{ stats }]) => {
      let phase = stats.phase
      Object.defineProperty(stats, 'phase', {
        get: () => phase,
        set: (next) => {
          if (next === 'writing') pagingMs = performance.now() - started
          phase = next
        },
      })
    },
  })
  const wholeMs = performance.now() - started
  if (jobs[0].error !== undefined) throw jobs[0].error
  const { tables } = JSON.parse(readFileSync(join(job.output, 'manifest.json'), 'utf8'))
  return { pagingMs, wholeMs, received: tables.transactions.rows }
}

function jobFor({ wallets, concurrency, tables = ['transactions'], folder, url }) {
  const addresses = walletsOf(wallets)
  return {
    name: 'bench',
    file: 'bench',
    kind: 'wallets',
    chain: '43114',
    wallets: addresses.map((address) => ({ address, label: null })),
    startBlock: 0,
    endBlock: 10_000_000,
    tables,
    format: 'csv',
    compression: 'none',
    output: join(folder, 'out'),
    table: 'files',
    numbers: 'text',
    maxRowsPerFile: 1_000_000,
    concurrency,
    finalityMs: 0,
    nativeSymbol: null,
    wraps: 'ledger',
    wrappedCoins: [],
    internals: 'listing',
    atomic: false,
    fees: 'listed',
    feesBudget: 0,
    keepRaw: false,
    escapeFormulas: true,
    service: { api: 'data-api', baseUrl: url, apiKeyHeader: 'x-service-api-key', timeoutMs: 30_000 },
  }
}
