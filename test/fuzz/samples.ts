import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { run } from '../../src/export/run.ts'
import { addresses, service } from '../helpers/faulty-run.ts'
import { testJob } from '../helpers/jobs.ts'
import { startLoopback } from '../helpers/loopback.ts'
import { demoWallets } from '../helpers/node-data.ts'
import { suiteFolder } from '../helpers/temp-folder.ts'

/** Valid documents of all kinds, as a basis for mutations. */
export type Samples = {
  job: object
  yaml: string
  addresses: string
  page: object
  manifest: object
  /** A checkpoint of an unfinished run. */
  log: Buffer
  /** A small output that passes verification. */
  output: string
}

const folder = suiteFolder()

/** Creates the samples with the embedded server, once per test file. */
export async function makeSamples(): Promise<Samples> {
  const { url } = await startLoopback(service)
  const endpoint = { baseUrl: url }
  const wallets = demoWallets.slice(-3)
  const [output, unfinished] = [join(folder, 'done'), join(folder, 'begun')]
  const job = (output: string) => testJob({ addresses: wallets, output, service: endpoint })
  await run([job(output)])
  await run([job(unfinished)], { maxRequests: 3 })
  const listing = `/v1/chains/43114/addresses/${addresses[1]}/transactions?pageSize=100&sortOrder=asc`
  const { body } = await service.handle({ method: 'GET', url: listing, headers: {} })
  return {
    job: JOB,
    yaml: YAML,
    addresses: `address,label\n${demoWallets
      .slice(0, 9)
      .map((address, at) => `${address},"wallet, ${at}"`)
      .join('\n')}\n`,
    page: onePerList(JSON.parse(body) as Listing),
    manifest: JSON.parse(readFileSync(join(output, 'manifest.json'), 'utf8')) as object,
    log: readFileSync(join(unfinished, '.walletlake', 'pages.log')),
    output,
  }
}

type Listing = { transactions: Record<string, unknown[]>[] }

/** Keeps one item with entries for each kind of list. */
function onePerList({ transactions, ...page }: Listing): object {
  const lists = ['erc20Transfers', 'erc721Transfers', 'erc1155Transfers', 'internalTransactions']
  const chosen = lists.map((list) => transactions.find((item) => (item[list]?.length ?? 0) > 0))
  return {
    ...page,
    nextPageToken: 'next',
    transactions: [...new Set(chosen)].filter((item) => item !== undefined),
  }
}

const [first = '', second = ''] = demoWallets
const JOB = {
  name: 'treasury',
  chain: '43114',
  addresses: [first, { address: second, label: 'savings' }],
  startBlock: 5,
  endBlock: 421,
  tables: ['ledger', 'transactions'],
  format: 'parquet',
  compression: 'zstd',
  output: 'output/treasury',
  maxRowsPerFile: 1000,
  concurrency: 4,
  nativeSymbol: 'AVAX',
  keepRaw: true,
  service: { baseUrl: 'https://data-api.example.com', apiKeyHeader: 'x-key', timeout: '30s' },
}

const YAML = `# a job
name: &name treasury
chain: 43114
addresses:
  - "${first}"
  - { address: ${second}, label: 'savings' }
startBlock: 5
finality: 10m
tables: [ledger, transactions]
format: csv
compression: gzip
keepRaw: true
nativeSymbol: *name
service:
  baseUrl: https://data-api.example.com/
  timeout: 30s
`
