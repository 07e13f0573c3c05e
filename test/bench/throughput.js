// Whole processes with 100,000 transactions of one wallet, no latency and no quota: walletlake compared with a plain
// loop over the official client that writes five tables as CSV (sdk-loop.js), and with JSON.parse of the same bytes.
// Usage: npm run bench -- throughput [dense|thin] [transactions, default 100000] [rounds, default 5]
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { chooseDatasets, walletsOfOwner } from './datasets.js'
import { measure, runMeasured } from './run-measured.js'
import { withService } from './with-service.js'

const LOOP = new URL('./sdk-loop.js', import.meta.url).pathname
export const WALLET = '0x0000000000000000000000000000000000001000'
export const FACT_TABLES =
  'transactions,erc20_transfers,erc721_transfers,erc1155_transfers,internal_transactions'

const VARIANTS = ['csv', 'parquet'].flatMap((format) =>
  [undefined, FACT_TABLES].map((tables) => ({ format, tables })),
)

export async function benchThroughput(...args) {
  const { datasets, numbers } = chooseDatasets(args)
  for (const dataset of datasets) await benchDataset(dataset, ...numbers)
}

/** Runs all variants in turn, `rounds` times, and takes the median of each, because the speed of the machine varies. */
function benchDataset(dataset, transactions = 100_000, rounds = 5) {
  return withService({ dataset, transactions }, async ({ folder, url }) => {
    const parseSeconds = await parseAll(url, transactions)
    const measured = Array.from({ length: rounds }, (_, round) => {
      const context = { dataset, folder: join(folder, String(round)), transactions }
      mkdirSync(context.folder)
      return [
        measureSdkLoop(url, context),
        ...VARIANTS.map((form) => measureExport(url, { ...context, ...form })),
      ]
    })
    const [sdk, ...ours] = measured[0].map((_, at) => medianOf(measured.map((round) => round[at])))
    const row = (name, { seconds, cpuSeconds, peakMB }) => ({
      [dataset]: name,
      seconds: seconds.toFixed(1),
      timesTheLoop: (sdk.seconds / seconds).toFixed(2),
      cpuSeconds: cpuSeconds.toFixed(1),
      timesItsCpu: (sdk.cpuSeconds / cpuSeconds).toFixed(2),
      peakMB,
    })
    console.table([
      row('loop over the official client, five tables, CSV', sdk),
      ...VARIANTS.map((form, at) => row(nameOf(form), ours[at])),
      row('JSON.parse of the same bytes (the floor)', { seconds: parseSeconds, cpuSeconds: parseSeconds }),
    ])
  })
}

const median = (values) => values.sort((a, b) => a - b)[values.length >> 1]

function medianOf(runs) {
  const of = (figure) => median(runs.map((run) => run[figure]))
  return { seconds: of('seconds'), cpuSeconds: of('cpuSeconds'), peakMB: of('peakMB') }
}

const nameOf = ({ format, tables }) =>
  `walletlake, ${tables === undefined ? 'seven' : 'the same five'} tables, ${format}`

/** Seconds for parsing all pages, without fetching them. */
async function parseAll(url, transactions) {
  let ms = 0
  for (let token = 0; token < transactions; token += 100) {
    const query = `startBlock=0&endBlock=${transactions}&sortOrder=asc&pageSize=100&pageToken=${token}`
    const response = await fetch(`${url}/v1/chains/43114/addresses/${WALLET}/transactions?${query}`)
    const text = await response.text()
    const started = performance.now()
    JSON.parse(text)
    ms += performance.now() - started
  }
  return ms / 1000
}

function measureSdkLoop(url, { folder, transactions }) {
  const out = join(folder, 'loop')
  mkdirSync(out)
  const measured = measure([LOOP, url, WALLET, String(transactions), out])
  if (Number(measured.stdout) !== transactions)
    throw new Error(`the loop wrote ${measured.stdout} transactions`)
  return measured
}

function measureExport(url, { dataset, folder, transactions, format, tables }) {
  const [job, output] = [join(folder, 'bench.json'), join(folder, `${format}-${tables === undefined}`)]
  const fields = { chain: '43114', endBlock: transactions, addresses: walletsOfOwner(WALLET, dataset) }
  writeFileSync(job, JSON.stringify(fields))
  const chosen = tables === undefined ? [] : ['--tables', tables]
  const args = ['run', job, '--base-url', url, '--output', output, '--format', format, '--quiet', ...chosen]
  const measured = runMeasured(args)
  const manifest = JSON.parse(readFileSync(join(output, 'manifest.json'), 'utf8'))
  if (manifest.tables.transactions.rows !== transactions) throw new Error('rows are missing')
  return measured
}
