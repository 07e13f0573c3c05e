import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { ExportError } from '../core/model/errors.ts'
import { type Manifest, PRIVATE_FOLDER } from '../core/model/manifest.ts'
import { diskError, PRIVATE_MODE, publishFile } from '../core/platform/disk.ts'
import { lockOutput } from '../core/platform/lock/lock.ts'
import { createTemporary } from '../core/platform/temporary-file.ts'
import { type Dataset, openDataset } from '../read/dataset.ts'
import { openService } from '../sources/data-api/open-service.ts'
import type { RequestCounts, ServiceAccess } from '../sources/service-access.ts'
import { formatCount } from '../terminal/format.ts'
import { formatEntry, openRequestLog, readRequestLog } from './request-log.ts'
import { type OutcomeCounts, requestReindexOfAll } from './request-reindex.ts'
import {
  loadRequestLog,
  loadTokens,
  previousRequests,
  type StaleToken,
  selectStaleTokens,
  staleTokens,
  type TokenCounts,
  type TokenSql,
} from './token-queries.ts'

export type ReindexOptions = {
  service: ServiceAccess
  /**
   * Also reindex tokens whose metadata is older than this, in milliseconds. @default only tokens without valid metadata
   */
  olderThanMs?: number | undefined
  /** Send no requests and write nothing. @default false */
  dryRun?: boolean
  /** Called in a dry run for each token that would be requested. */
  onToken?: (token: StaleToken) => void
  /** Unix milliseconds. @default Date.now */
  clock?: () => number
}

export type ReindexResult = TokenCounts &
  OutcomeCounts &
  RequestCounts & {
    /** Tokens that remain to be requested. */
    remaining: number
    /** Messages about the first tokens that the service does not know or refuses (at most 20). */
    messages: readonly string[]
    /** The error that stopped it early. The same command continues. */
    error: ExportError | undefined
  }

/**
 * Asks the service to index the metadata of an export's NFTs again (interface section 4.2) if the last row of a token has
 * no valid metadata, or old metadata. Each token is requested at most once an hour, across runs too. The export does
 * not change; a new export shows the new metadata.
 *
 * @param folder the output folder
 * @returns the counts of tokens, outcomes and requests, and the error that stopped it early, if any
 * @throws ExportError USAGE if the folder has no suitable export, OUTPUT_LOCKED while another reindex of it runs,
 * VERIFY_FAILED if its files cannot be read
 */
export async function reindexOutput(folder: string, options: ReindexOptions): Promise<ReindexResult> {
  const output = await openDataset(folder)
  try {
    requireTokens(folder, output.manifest)
    const stateFolder = join(folder, PRIVATE_FOLDER, 'reindex')
    if (options.dryRun) return await countStaleTokens(output, stateFolder, options)
    const release = await lockOutput(stateFolder, 'reindexing')
    try {
      return await reindex(output, stateFolder, options)
    } finally {
      await release()
    }
  } finally {
    await output.close()
  }
}

function requireTokens(folder: string, { tables }: Manifest): void {
  if (tables.erc721_transfers !== undefined || tables.erc1155_transfers !== undefined) return
  throw new ExportError('USAGE', `${folder} has no table of NFT transfers`, {
    fix: 'Export the job with the tables erc721_transfers and erc1155_transfers.',
  })
}

const NO_REQUESTS = {
  accepted: 0,
  limited: 0,
  unknown: 0,
  refused: 0,
  unanswered: 0,
  requests: 0,
  computeUnits: 0,
  rateLimited: 0,
  retries: 0,
  messages: [],
  error: undefined,
}

async function countStaleTokens(
  output: Dataset,
  folder: string,
  options: ReindexOptions,
): Promise<ReindexResult> {
  const { sql, counts } = await load(output, folder, options)
  if (options.onToken !== undefined) for await (const token of staleTokens(sql)) options.onToken(token)
  return { ...counts, ...NO_REQUESTS, remaining: tokensToRequest(counts) }
}

async function reindex(output: Dataset, folder: string, options: ReindexOptions): Promise<ReindexResult> {
  const { clock = Date.now } = options
  const { chain } = output.manifest.job
  const service = await openService({ ...options.service, operation: 'reindex' })
  try {
    const { sql, counts } = await load(output, folder, options)
    await compactRequestLog(sql, requestLogPath(folder), chain)
    const requestLog = await openRequestLog(requestLogPath(folder), chain).catch(requestLogError)
    const { client, signal } = service
    const result = await requestReindexOfAll(staleTokens(sql), {
      reindex: ({ address, id }) => client.reindexNft({ chainId: chain, address, tokenId: id }, { signal }),
      record: (entry) => requestLog.append(entry).catch(requestLogError),
      wait: (ms: number) => delay(ms, undefined, { signal }).catch(() => {}),
      now: clock,
      concurrency: options.service.concurrency ?? 16,
    }).finally(() => requestLog.close())
    const done = Object.values(result.counts).reduce((sum, count) => sum + count, 0)
    return {
      ...counts,
      ...result.counts,
      ...service.counts,
      remaining: tokensToRequest(counts) - done,
      messages: result.messages,
      error: result.error ?? unfinishedError(counts, result.counts),
    }
  } finally {
    await service.close()
  }
}

/** The error of a run without failures that achieved nothing, so that a later command does not take it for done. */
function unfinishedError({ unconfirmed }: TokenCounts, counts: OutcomeCounts): ExportError | undefined {
  const { accepted, limited, unknown, refused } = counts
  if (accepted + limited > 0) return undefined
  if (unknown + refused > 0) return new ExportError('REQUEST_REFUSED', 'the service refused every token')
  if (unconfirmed === 0) return undefined
  return new ExportError(
    'SERVICE_UNAVAILABLE',
    `the responses to requests for ${formatCount(unconfirmed, 'token')} were lost: they may be refreshed or not`,
    { fix: 'Run the same command again an hour after these requests: it sends them again.' },
  )
}

function tokensToRequest({ missing, old, recentlyRequested }: TokenCounts): number {
  return missing + old - recentlyRequested
}

function requestLogPath(folder: string): string {
  return join(folder, 'requests.ndjson')
}

async function load(
  output: Dataset,
  folder: string,
  options: ReindexOptions,
): Promise<{ sql: TokenSql; counts: TokenCounts }> {
  const { manifest } = output
  const { olderThanMs, clock = Date.now } = options
  const sql: TokenSql = output
  const nowMs = clock()
  await loadTokens(sql)
  await loadRequestLog(sql, readRequestLog(requestLogPath(folder), { chain: manifest.job.chain, nowMs }))
  return { sql, counts: await selectStaleTokens(sql, { nowMs, olderThanMs }) }
}

/** Rewrites the log with one line per token, without repeated, damaged or truncated lines. */
async function compactRequestLog(sql: TokenSql, path: string, chain: string): Promise<void> {
  try {
    const { path: temporary, handle } = await createTemporary(path, PRIVATE_MODE)
    try {
      for await (const batch of previousRequests(sql))
        await handle.appendFile(batch.map((entry) => formatEntry(entry, chain)).join(''))
    } finally {
      await handle.close()
    }
    await publishFile(temporary, path)
  } catch (cause) {
    requestLogError(cause)
  }
}

function requestLogError(cause: unknown): never {
  throw diskError('cannot write the log of requested tokens', cause)
}
