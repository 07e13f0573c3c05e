// The processor time and memory of whole commands, as ratios of baselines that run in turns with them: loops that users would
// write, the export that `verify` checks, plain loads, and `statement` for `report`.
// Usage: npm run bench -- ratios [rounds, default 5] [transactions of the Data API, default 32926] [of an explorer, default 15000]
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { walletsOfOwner } from './datasets.js'
import { withExplorer } from './explorers.js'
import { measure, runMeasured } from './run-measured.js'
import { FACT_TABLES, WALLET } from './throughput.js'
import { withService } from './with-service.js'

const scriptAt = (name) => new URL(name, import.meta.url).pathname
const [SDK_LOOP, EXPLORER_LOOP, PLAIN_LOAD] = ['./sdk-loop.js', './explorer-loop.js', './plain-load.js'].map(
  scriptAt,
)
const EXPORTS = [
  { format: 'csv', tables: FACT_TABLES, aim: 0.6, name: 'five tables, CSV' },
  { format: 'parquet', tables: FACT_TABLES, aim: 0.65, name: 'five tables, Parquet' },
  { format: 'csv', aim: 0.8, name: 'all tables, CSV' },
  { format: 'parquet', aim: 1, name: 'all tables, Parquet' },
]

export async function benchRatios(rounds = 5, transactions = 32_926, ofExplorer = 15_000) {
  await withService({ dataset: 'dense', transactions }, async ({ folder, url }) => {
    const measured = Array.from({ length: rounds }, () => measureDataApi({ folder, url, transactions }))
    printRatios('Data API', measured)
  })
  await withExplorer(ofExplorer, ({ folder, url, job }) => {
    const measured = Array.from({ length: rounds }, () => measureExplorer({ folder, url, job }))
    printRatios('explorer', measured)
  })
}

function measureDataApi({ folder, url, transactions }) {
  const [job, out] = [join(folder, 'job.json'), join(folder, 'out')]
  const fields = { chain: '43114', endBlock: transactions, addresses: walletsOfOwner(WALLET, 'dense') }
  writeFileSync(job, JSON.stringify(fields))
  const loop = measureIn(out, () => measure([SDK_LOOP, url, WALLET, String(transactions), out]))
  return EXPORTS.map(({ format, tables, aim, name }) => {
    const chosen = tables === undefined ? [] : ['--tables', tables]
    const args = ['run', job, '--base-url', url, '--output', out, '--format', format, '--quiet', ...chosen]
    return { what: `run: ${name} / loop`, ours: measureIn(out, () => runMeasured(args)), base: loop, aim }
  })
}

function measureExplorer({ folder, url, job }) {
  const out = join(folder, 'out')
  const loop = measureIn(out, () => measure([EXPLORER_LOOP, url, WALLET, out]))
  rmSync(out, { recursive: true })
  const exported = runMeasured(['run', job, '--base-url', url, '--output', out, '--quiet'])
  const load = (engine) => {
    const [ours, plain] = [join(folder, `ours.${engine}`), join(folder, `plain.${engine}`)]
    for (const file of [ours, plain]) rmSync(file, { force: true, recursive: true })
    return {
      ours: runMeasured(['load', out, '--to', `${engine}:${ours}`]),
      base: measure([PLAIN_LOAD, engine, out, plain]),
      aim: 1.5,
    }
  }
  const statement = runMeasured([
    'statement',
    out,
    '--from',
    '2000-01-01',
    '--until',
    '2999-12-31',
    '--format',
    'csv',
  ])
  return [
    { what: 'run: all tables, CSV / loop', ours: exported, base: loop, aim: 2 },
    { what: 'verify / run', ours: runMeasured(['verify', out]), base: exported, aim: 0.5 },
    { what: 'load into SQLite / plain inserts', ...load('sqlite') },
    { what: 'load into DuckDB / CREATE TABLE AS', ...load('duckdb') },
    {
      what: 'report / statement',
      ours: runMeasured(['report', out, '--out', join(folder, 'report.html')]),
      base: statement,
      aim: 1.5,
    },
  ]
}

/** Runs a measurement with an empty folder. */
function measureIn(folder, run) {
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder)
  return run()
}

const median = (values) => values.toSorted((a, b) => a - b)[values.length >> 1]

/** Prints the ratios of the medians of all rounds. */
function printRatios(source, measured) {
  const rows = measured[0].map(({ what, aim }, at) => {
    const of = (side, figure) => median(measured.map((round) => round[at][side][figure]))
    const [ours, base] = [of('ours', 'cpuSeconds'), of('base', 'cpuSeconds')]
    return {
      [source]: what,
      cpuSeconds: ours.toFixed(2),
      baseline: base.toFixed(2),
      ratio: (ours / base).toFixed(2),
      aim,
      peakMB: of('ours', 'peakMB'),
      baselineMB: of('base', 'peakMB'),
    }
  })
  console.table(rows)
}
