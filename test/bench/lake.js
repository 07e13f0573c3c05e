// A year of nightly commits to Iceberg tables in memory: what a commit costs, how much metadata there is, and what compact
// and expire do to it. Nothing is downloaded or exported: the data files exist in the metadata only.
// Usage: npm run bench -- lake [nights, default 365]
import { expireSnapshots } from '../../dist/iceberg/expire.js'
import { fileCatalog } from '../../dist/iceberg/file-catalog.js'
import { liveEntries, readManifestList } from '../../dist/iceberg/live-files.js'
import { currentSnapshot } from '../../dist/iceberg/metadata.js'
import { syncTables } from '../../dist/iceberg/sync-table.js'

const DAY_MS = 86_400_000
const ROWS_PER_FILE = 1_000_000

/** Rows that a night adds to each table. */
const EXPORTS = {
  'six wallets': { ledger: 200, transactions: 50, wallet_transactions: 50, erc20_transfers: 80 },
  '100,000 wallets': {
    ledger: 2_600_000,
    transactions: 600_000,
    wallet_transactions: 700_000,
    erc20_transfers: 900_000,
    erc721_transfers: 20_000,
    erc1155_transfers: 10_000,
    internal_transactions: 300_000,
  },
}

const POLICIES = {
  neither: {},
  'expire --older-than 30d every week': { expireEvery: 7 },
  'also compact every month': { expireEvery: 7, compactEvery: 30 },
}

export async function benchLake(nights = 365) {
  const results = []
  for (const [what, rows] of Object.entries(EXPORTS))
    for (const [policy, options] of Object.entries(POLICIES))
      results.push({ what, policy, ...(await simulate(rows, { nights, ...options })) })
  console.table(results)
}

async function simulate(rows, { nights, expireEvery, compactEvery }) {
  const now = Date.now
  const start = now()
  let night = 0
  Date.now = () => start + night * DAY_MS
  try {
    const lake = openLake()
    const manifest = {
      job: {},
      tables: Object.fromEntries(Object.keys(rows).map((name) => [name, { files: [] }])),
    }
    let last
    for (night = 1; night <= nights; night += 1) {
      for (const [name, count] of Object.entries(rows))
        manifest.tables[name].files.push(...filesOf(name, night, count))
      last = await measure(lake, () => commit(lake, manifest))
      if (compactEvery && night % compactEvery === 0) {
        for (const table of Object.values(manifest.tables))
          table.files = compacted(table.files, night, compactEvery)
        await commit(lake, manifest, true)
      }
      if (expireEvery && night % expireEvery === 0)
        await expireSnapshots(lake, manifest, { beforeMs: Date.now() - 30 * DAY_MS, isDryRun: false })
    }
    return { ...describe(lake, manifest), ...(await planning(lake)), ...asCommit(last) }
  } finally {
    Date.now = now
  }
}

/** The files of an output in memory, with counters of requests and bytes. */
function openLake() {
  const contents = new Map()
  const counters = { reads: 0, writes: 0, bytesRead: 0, bytesWritten: 0 }
  const put = (path, content) => {
    counters.writes += 1
    counters.bytesWritten += content.length
    contents.set(path, content)
  }
  const files = {
    base: 's3://lake/export',
    read: async (path) => {
      const content = contents.get(path)
      if (content === undefined) throw new Error(`${path} does not exist`)
      counters.reads += 1
      counters.bytesRead += content.length
      return content
    },
    list: async (folder) => [...contents.keys()].filter((path) => path.startsWith(`${folder}/`)),
    create: async (path, content) => {
      if (contents.has(path)) return false
      put(path, content)
      return true
    },
    replace: async (path, text) => put(path, Buffer.from(text)),
    remove: async (path) => void contents.delete(path),
  }
  return { contents, counters, files, catalog: fileCatalog(files) }
}

function filesOf(table, night, rows) {
  const count = Math.ceil(rows / ROWS_PER_FILE)
  return Array.from({ length: count }, (_, at) =>
    fileOf(`${table}/${table}-${night}-${at}.parquet`, Math.round(rows / count)),
  )
}

const fileOf = (path, rows) => ({ path, rows, bytes: rows * 40 })

/** The files after a compaction of the last nights, and those before them. */
function compacted(files, night, nights) {
  const [first] = files
  const isRecent = ({ path }) => Number(/-(\d+)-\d+\.parquet$/.exec(path)?.[1] ?? 0) > night - nights
  const rows = files.filter(isRecent).reduce((sum, file) => sum + file.rows, 0)
  const table = first.path.split('/')[0]
  const count = Math.ceil(rows / ROWS_PER_FILE)
  const merged = Array.from({ length: count }, (_, at) =>
    fileOf(`${table}/compact-${night}-${at}.parquet`, Math.round(rows / count)),
  )
  return [...files.filter((file) => !isRecent(file)), ...merged]
}

function commit({ catalog, files }, manifest, isRewrite = false) {
  const readStats = async (added, schema) => new Map(added.map(({ path }) => [path, statsOf(schema)]))
  const source = { manifestSha256: '0'.repeat(64), runId: '20260101T000000Z-bench', isRewrite }
  return syncTables({ ...source, catalog, files, manifest, readStats })
}

/** Statistics of the size that real files have. */
function statsOf({ fields }) {
  const of = (value) => fields.map(({ id }) => ({ key: id, value: value(id) }))
  const text = (id) => Buffer.from(`0x${String(Math.random()).slice(2, 14)}${id}`)
  return {
    column_sizes: of((id) => 100_000 + id),
    value_counts: of(() => ROWS_PER_FILE),
    null_value_counts: of(() => 0),
    lower_bounds: of(text),
    upper_bounds: of(text),
  }
}

async function measure({ counters }, work) {
  const before = { ...counters }
  const cpu = process.cpuUsage()
  await work()
  const { user, system } = process.cpuUsage(cpu)
  const used = Object.entries(counters).map(([name, count]) => [name, count - before[name]])
  return { ...Object.fromEntries(used), cpuMs: (user + system) / 1000 }
}

function describe({ contents }, { tables }) {
  const metadata = [...contents]
  const bytes = metadata.reduce((sum, [, { length }]) => sum + length, 0)
  const newest = largestMetadata(contents)
  return {
    'data files': Object.values(tables).reduce((sum, { files }) => sum + files.length, 0),
    'metadata files': metadata.length,
    'metadata MB': (bytes / 1e6).toFixed(1),
    'metadata.json KB': Math.round(newest / 1000),
  }
}

function largestMetadata(contents) {
  return Math.max(
    ...[...contents].map(([path, { length }]) => (path.endsWith('.metadata.json') ? length : 0)),
  )
}

/** What a reader needs to plan a scan of the ledger: metadata, manifest list and manifests. */
async function planning(lake) {
  let snapshots = 0
  const cost = await measure(lake, async () => {
    const metadata = await lake.catalog.load('ledger')
    snapshots = metadata.snapshots.length
    await liveEntries(lake.files, await readManifestList(lake.files, currentSnapshot(metadata)))
  })
  return {
    snapshots: snapshots,
    'plan: reads': cost.reads - 1,
    'plan: KB': Math.round(cost.bytesRead / 1000),
    'plan: CPU ms': Math.round(cost.cpuMs),
  }
}

const asCommit = ({ reads, writes, bytesRead, bytesWritten, cpuMs }) => ({
  'commit: reads': reads,
  'commit: writes': writes,
  'commit: KB read': Math.round(bytesRead / 1000),
  'commit: KB written': Math.round(bytesWritten / 1000),
  'commit: CPU ms': Math.round(cpuMs),
})
