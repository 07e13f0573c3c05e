// CPU time of an export by stage: one wallet with 100,000 transactions, five tables as CSV, measured with the sampling
// profiler of V8 in all threads. Idle time is excluded.
import { spawnSync } from 'node:child_process'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { chooseDatasets, walletsOfOwner } from './datasets.js'
import { FACT_TABLES, WALLET } from './throughput.js'
import { withService } from './with-service.js'

const BIN = new URL('../../dist/bin.js', import.meta.url).pathname

/** Stages with a pattern for the function and module of a sample. The first match counts. */
const STAGES = {
  'garbage collection': /\(garbage collector\)/,
  'parsing pages (JSON.parse)': /^(parsePage|parseBytes) |^(slice|latin1Slice) /,
  'checking items and converting them to rows':
    /dist\/(sources\/data-api|transform\/(merge|flatten|union-views|erc-logs|ledger|movements)|core\/(model\/item-key|platform\/byte-text))|crypto\/hash/,
  'writing lines':
    /dist\/(files\/csv|transform\/(staged|write-batch))|^(latin1Write|utf8Write) |^RegExp: \[",/,
  'requests: HTTP, sockets, retries, rate limiter, planning':
    /undici|llhttp|wasm|dist\/(http|export\/fetch)|p-retry|p-limit|writeLatin1String|node:(net|internal\/(streams|abort_controller|event_target|timers|url|stream_base))|node:timers/,
  'files: checkpoint, staged lines, parts':
    /dist\/(checkpoint|files|transform)|writeBuffer|crc32|node:internal\/fs|node:zlib|^(read|open|close|writeString|fstat|unlink) /,
  'loading modules': /node:internal\/(modules|bootstrap)|compile|node:path|evaluate|yargs|yaml/,
  other: /./,
}

export async function benchProfile(...args) {
  const { datasets, numbers } = chooseDatasets(args)
  for (const dataset of datasets) await profileDataset(dataset, ...numbers)
}

function profileDataset(dataset, transactions = 100_000) {
  return withService({ dataset, transactions }, ({ folder, url }) => {
    const job = join(folder, 'bench.json')
    const addresses = walletsOfOwner(WALLET, dataset)
    writeFileSync(job, JSON.stringify({ chain: '43114', endBlock: transactions, addresses }))
    const profiles = join(folder, 'profiles')
    const profiling = ['--cpu-prof', '--cpu-prof-dir', profiles]
    const args = [
      'run',
      job,
      '--base-url',
      url,
      '--output',
      join(folder, 'out'),
      '--quiet',
      '--tables',
      FACT_TABLES,
    ]
    const { status } = spawnSync(process.execPath, [...profiling, BIN, ...args])
    if (status !== 0) throw new Error(`exit ${status}`)
    printProfile(
      dataset,
      readdirSync(profiles).map((name) => JSON.parse(readFileSync(join(profiles, name), 'utf8'))),
    )
  })
}

const linesOf = new Map()

/** The program is a bundle in which a comment with the path precedes the code of each module. Returns that comment. */
function moduleOf({ url, lineNumber }) {
  if (!url.includes('/dist/')) return url
  if (!linesOf.has(url)) linesOf.set(url, readFileSync(new URL(url), 'utf8').split('\n'))
  const lines = linesOf.get(url).slice(0, lineNumber + 1)
  return lines.findLast((line) => /^\/\/ (dist|node_modules)\//.test(line)) ?? url
}

function printProfile(dataset, profiles) {
  const ms = Object.fromEntries(Object.keys(STAGES).map((stage) => [stage, 0]))
  for (const { nodes, samples, timeDeltas } of profiles) {
    const names = new Map(
      nodes.map(({ id, callFrame }) => [id, `${callFrame.functionName} ${moduleOf(callFrame)}`]),
    )
    samples.forEach((id, at) => {
      const name = names.get(id)
      if (name.startsWith('(idle)')) return
      const [stage] = Object.entries(STAGES).find(([, pattern]) => pattern.test(name))
      ms[stage] += timeDeltas[at] / 1000
    })
  }
  const total = Object.values(ms).reduce((sum, one) => sum + one, 0)
  const rows = Object.entries(ms).map(([stage, one]) => ({
    [dataset]: stage,
    seconds: (one / 1000).toFixed(2),
    share: `${Math.round((100 * one) / total)} %`,
  }))
  console.table(rows)
}
