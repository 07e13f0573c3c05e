// How well a run keeps its readers busy, against a loopback service with delays; the table of transactions is
// written, in the last two rows all seven.
// 1: one wallet read by 16 readers at once, against one page after the other: the same program with one reader.
// 2: 200 wallets with 32 readers, against the ideal (requests x mean delay / 32).
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { TABLE_NAMES } from '../../dist/core/table/index.js'
import { run } from '../../dist/export/run.js'
import { chooseDatasets } from './datasets.js'
import { walletsOf, withService } from './with-service.js'

const DELAY_MS = [80, 160]
const MEAN_MS = 120

export async function benchPaging(...args) {
  for (const world of chooseDatasets(args).datasets) await benchDataset(world)
}

async function benchDataset(world) {
  const one = { world, transactions: 60_000, wallets: 1, concurrency: 16 }
  const many = { world, transactions: 20_000, wallets: 200, concurrency: 32, spread: 200 }
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

function measure(label, { world, transactions, spread, bursty = false, ...jobOptions }) {
  const { wallets, concurrency } = jobOptions
  const options = { world, transactions, spread, bursty, delayMs: DELAY_MS }
  return withService(options, async ({ folder, url }) => {
    const { pagingMs, wholeMs, received } = await page(jobFor({ ...jobOptions, folder, url }))
    const { requests, most } = await (await fetch(`${url}/figures`)).json()
    const sizes = Array.from({ length: wallets }, (_, at) =>
      spread === undefined ? transactions : Math.max(1, Math.round((transactions * at) / (spread - 1))),
    )
    const total = sizes.reduce((sum, size) => sum + size, 0)
    if (received !== total) throw new Error(`${received} transactions, expected ${total}`)
    if (most > concurrency) throw new Error(`${most} requests in flight`)
    const pages = sizes.reduce((sum, size) => sum + Math.ceil(size / 100), 0)
    return {
      [world]: label,
      seconds: (pagingMs / 1000).toFixed(2),
      ofIdeal: `${(((requests * MEAN_MS) / concurrency / pagingMs) * 100).toFixed(1)} %`,
      extraRequests: `${((requests / pages - 1) * 100).toFixed(2)} %`,
      inFlight: most,
      endsLater: `${((wholeMs / pagingMs - 1) * 100).toFixed(1)} %`,
    }
  })
}

/** Runs the job; milliseconds from the first request to the last page, and to the end. */
async function page(job) {
  const started = performance.now()
  let pagingMs = 0
  await run([job], {
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
  const { tables } = JSON.parse(readFileSync(join(job.output, 'manifest.json'), 'utf8'))
  return { pagingMs, wholeMs, received: tables.transactions.rows }
}

function jobFor({ wallets, concurrency, tables = ['transactions'], folder, url }) {
  const addresses = walletsOf(wallets)
  return {
    name: 'bench',
    file: 'bench',
    chain: '43114',
    wallets: addresses.map((address) => ({ address, label: null })),
    startBlock: 0,
    endBlock: 10_000_000,
    tables,
    format: 'csv',
    compression: 'none',
    output: join(folder, 'out'),
    maxRowsPerFile: 1_000_000,
    concurrency,
    finalityMs: 0,
    nativeSymbol: null,
    keepRaw: false,
    escapeFormulas: true,
    service: { baseUrl: url, apiKeyHeader: 'x-service-api-key', timeoutMs: 30_000 },
  }
}
