// npm run bench -- <name> [arguments] runs one benchmark; without a name, it runs all. throughput, memory, paging and
// profile accept a dataset, dense or thin; without one, they run both.
import { benchAccounting } from './accounting.js'
import { benchCluster, benchSharedQuota } from './cluster.js'
import { benchExplorers } from './explorers.js'
import { benchHtmlReport } from './html-report.js'
import { benchIncremental } from './incremental.js'
import { benchLake } from './lake.js'
import { benchMemory } from './memory.js'
import { benchPaging } from './paging.js'
import { benchParquet } from './parquet.js'
import { benchProfile } from './profile.js'
import { benchQuota } from './quota.js'
import { benchRatios } from './ratios.js'
import { benchReconcile } from './reconcile.js'
import { benchThroughput } from './throughput.js'

const BENCHES = {
  ratios: benchRatios,
  throughput: benchThroughput,
  profile: benchProfile,
  paging: benchPaging,
  machines: benchCluster,
  processes: benchSharedQuota,
  memory: benchMemory,
  parquet: benchParquet,
  nightly: benchIncremental,
  quota: benchQuota,
  reconcile: benchReconcile,
  explorers: benchExplorers,
  books: benchAccounting,
  page: benchHtmlReport,
  lake: benchLake,
}
const [name, ...args] = process.argv.slice(2)
const chosen = name === undefined ? Object.values(BENCHES) : [BENCHES[name]]
if (chosen[0] === undefined)
  throw new Error(`unknown benchmark ${name}: expected one of ${Object.keys(BENCHES).join(', ')}`)
for (const bench of chosen) await bench(...args.map((arg) => (Number.isNaN(Number(arg)) ? arg : Number(arg))))
