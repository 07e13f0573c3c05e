// Where the processor time of an export goes: one wallet of 100,000 transactions, five tables as CSV, by V8's own
// sampling profiler in both threads. Idle time is left out.
import { spawnSync } from 'node:child_process'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { chooseDatasets, walletsOfOwner } from './datasets.js'
import { FACT_TABLES, WALLET } from './throughput.js'
import { withService } from './with-service.js'

const BIN = new URL('../../dist/bin.js', import.meta.url).pathname

/** The first that fits a sample's function or file names its stage. */
const STAGES = {
  'garbage collection': /\(garbage collector\)/,
  'parsing pages (JSON.parse)': /^(parsePage|parseBytes|transactionsIn) |^(slice|latin1Slice) /,
  'checking and flattening':
    /dist\/(sources\/data-api|transform\/(merge|flatten|unite|ledger|movements)|core\/(model\/item-key|platform\/byte-text))|crypto\/hash/,
  'making lines':
    /dist\/(files\/csv|transform\/(staged|write-slice))|^(latin1Write|utf8Write) |^RegExp: \[",/,
  'asking: HTTP, sockets, retries, gate, plan':
    /undici|llhttp|wasm|dist\/(http|export\/fetch)|p-retry|p-limit|writeLatin1String|node:(net|internal\/(streams|abort_controller|event_target|timers|url|stream_base))|node:timers/,
  'files: checkpoint, chunks, parts':
    /dist\/(checkpoint|files|transform)|writeBuffer|crc32|node:internal\/fs|node:zlib|^(read|open|close|writeString|fstat|unlink) /,
  'starting: loading modules': /node:internal\/(modules|bootstrap)|compile|node:path|evaluate|commander|yaml/,
  other: /./,
}

export async function benchProfile(...args) {
  const { datasets, numbers } = chooseDatasets(args)
  for (const world of datasets) await profileDataset(world, ...numbers)
}

function profileDataset(world, transactions = 100_000) {
  return withService({ world, transactions }, ({ folder, url }) => {
    const job = join(folder, 'bench.json')
    const addresses = walletsOfOwner(WALLET, world)
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
      world,
      readdirSync(profiles).map((name) => JSON.parse(readFileSync(join(profiles, name), 'utf8'))),
    )
  })
}

const linesOf = new Map()

/** The program is a bundle: before what was a module, of its own or of a package, stands a comment with its path. */
function moduleOf({ url, lineNumber }) {
  if (!url.includes('/dist/')) return url
  if (!linesOf.has(url)) linesOf.set(url, readFileSync(new URL(url), 'utf8').split('\n'))
  const lines = linesOf.get(url).slice(0, lineNumber + 1)
  return lines.findLast((line) => /^\/\/ (dist|node_modules)\//.test(line)) ?? url
}

function printProfile(world, profiles) {
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
    [world]: stage,
    seconds: (one / 1000).toFixed(2),
    share: `${Math.round((100 * one) / total)} %`,
  }))
  console.table(rows)
}
