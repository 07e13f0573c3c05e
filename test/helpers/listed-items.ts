import type { Job } from '../../src/core/model/model.ts'
import { type RunOptions, run } from '../../src/export/run.ts'
import { verifyOutput } from '../../src/verify/export/verify-output.ts'
import type { Json } from '../transform/items.ts'
import { testJob } from './jobs.ts'
import { readManifest } from './read-output.ts'
import { serve } from './serve.ts'
import { tempFolder } from './temp-folder.ts'

const LISTS = ['erc20Transfers', 'erc721Transfers', 'erc1155Transfers', 'internalTransactions']

export type ListedItem = { nativeTransaction: Json } & Json

/**
 * Starts a loopback server that lists exactly these items, even malformed ones. `items` can be replaced at any time.
 */
export async function startListing(items: readonly ListedItem[]) {
  const listing = { items }
  const url = await serve((request, response) => {
    response.setHeader('content-type', 'application/json')
    response.end(JSON.stringify(listingFor(listing.items, new URL(request.url ?? '/', 'http://loopback'))))
  })
  return Object.assign(listing, { url })
}

function listingFor(items: readonly ListedItem[], { pathname, searchParams }: URL): Json {
  const [, , , , kind, name = ''] = pathname.split('/')
  const blockOf = ({ nativeTransaction }: ListedItem) => Number(nativeTransaction.blockNumber)
  if (kind === 'blocks') {
    const inBlock = items.filter((item) => blockOf(item) === Number(name))
    return { transactions: inBlock.map(({ nativeTransaction }) => nativeTransaction) }
  }
  const [from, to] = [Number(searchParams.get('startBlock')), Number(searchParams.get('endBlock'))]
  const listed = items
    .filter((item) => blockOf(item) >= from && blockOf(item) < to && isParty(item, name.toLowerCase()))
    .map((item) => viewOf(item, name.toLowerCase()))
    .sort((a, b) => blockOf(a) - blockOf(b))
  return { transactions: searchParams.get('sortOrder') === 'desc' ? listed.reverse() : listed }
}

const involves = (entry: unknown, address: string) =>
  [(entry as Json | null)?.from, (entry as Json | null)?.to].some(
    (party) => String((party as Json | undefined)?.address).toLowerCase() === address,
  )

const entriesOf = (item: ListedItem, list: string) =>
  Array.isArray(item[list]) ? (item[list] as unknown[]) : []

const isParty = (item: ListedItem, address: string) =>
  involves(item.nativeTransaction, address) ||
  LISTS.some((list) => entriesOf(item, list).some((entry) => involves(entry, address)))

function viewOf(item: ListedItem, address: string): ListedItem {
  const lists = LISTS.filter((list) => Array.isArray(item[list])).map((list) => [
    list,
    entriesOf(item, list).filter((entry) => involves(entry, address)),
  ])
  return { ...item, ...Object.fromEntries(lists) }
}

type ListedJobOptions = Partial<Omit<Job, 'wallets'>> & { addresses: readonly string[] }

/** A job against such a server, by default for all blocks. */
export function listedJob(url: string, options: ListedJobOptions): Job {
  const service = { baseUrl: url, apiKeyHeader: 'x-service-api-key', timeoutMs: 120_000 }
  return testJob({ endBlock: undefined, output: tempFolder(), nativeSymbol: 'AVAX', service, ...options })
}

/** Runs a job and returns the results of the run and of `verify`, with the manifest. */
export async function exportListed(job: Job, options: RunOptions = {}) {
  const { code, jobs } = await run([job], { retry: { firstDelayMs: 1, maxDelayMs: 2 }, ...options })
  const verdict = await verifyOutput(job.output)
  return {
    code,
    stats: jobs[0]?.stats,
    error: jobs[0]?.error,
    verdict,
    manifest: readManifest(job.output),
  }
}
