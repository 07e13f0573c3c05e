import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { ExportError } from '../core/model/errors.ts'
import { type Manifest, PRIVATE_FOLDER } from '../core/model/manifest.ts'
import { diskError, PRIVATE_MODE, publishFile } from '../core/platform/disk.ts'
import { lockOutput } from '../core/platform/lock/lock.ts'
import { createTemporary } from '../core/platform/temporary-file.ts'
import { type OpenedExport, openExport } from '../read/open-export.ts'
import { openService, type RequestCounts, type ServiceAccess } from '../sources/data-api/open-service.ts'
import { openMemory, readMemory, writeLine } from './request-log.ts'
import { type AskedCounts, askTokens } from './request-reindex.ts'
import {
  askedBefore,
  chooseTokens,
  loadAsked,
  loadTokens,
  type TokenCounts,
  type TokenSql,
  type WantedToken,
  wantedTokens,
} from './token-queries.ts'

export type ReindexOptions = {
  service: ServiceAccess
  /** Also tokens whose metadata is older, in milliseconds; undefined: only those without good metadata. */
  olderThanMs?: number | undefined
  /** Ask and write nothing. @default false */
  dryRun?: boolean
  /** Told of each token that would be asked for, in a dry run. */
  onToken?: (token: WantedToken) => void
  /** Unix milliseconds. @default Date.now */
  clock?: () => number
}

export type ReindexResult = TokenCounts &
  AskedCounts &
  RequestCounts & {
    /** Tokens that are left to be asked for. */
    left: number
    /** The first tokens that the service does not know or refuses, with what it said. */
    told: readonly string[]
    /** What ended it early; the same command goes on. */
    error: ExportError | undefined
  }

/**
 * Has the service read the metadata of an export's tokens again (interface section 4.2) where the last row of a token
 * has none, or old one. A token is asked for once an hour at most, also from one run to the next. The export itself stays
 * as it is: the next export shows what was read.
 *
 * @throws ExportError USAGE without an export or a service, OUTPUT_LOCKED while another reindex of it runs,
 * VERIFY_FAILED where its files cannot be read.
 */
export async function reindexOutput(folder: string, options: ReindexOptions): Promise<ReindexResult> {
  const output = await openExport(folder)
  try {
    requireTokens(folder, output.manifest)
    const place = join(folder, PRIVATE_FOLDER, 'reindex')
    if (options.dryRun) return await count({ output, place, options })
    const release = await lockOutput(place, 'reindexing')
    try {
      return await reindex({ output, place, options })
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

type Reindexing = { output: OpenedExport; place: string; options: ReindexOptions }

const NOTHING_ASKED = {
  ...{ accepted: 0, limited: 0, unknown: 0, refused: 0, requests: 0, rateLimited: 0, retries: 0 },
  ...{ told: [], error: undefined },
}

async function count(reindexing: Reindexing): Promise<ReindexResult> {
  const { sql, counts } = await load(reindexing)
  const { onToken } = reindexing.options
  if (onToken !== undefined) for await (const token of wantedTokens(sql)) onToken(token)
  return { ...counts, ...NOTHING_ASKED, left: wantedNow(counts) }
}

async function reindex(reindexing: Reindexing): Promise<ReindexResult> {
  const { place, options, output } = reindexing
  const { clock = Date.now } = options
  const { chain } = output.manifest.job
  const service = await openService(options.service)
  try {
    const { sql, counts } = await load(reindexing)
    await rewriteMemory(sql, { path: memoryIn(place), chain })
    const memory = await openMemory(memoryIn(place), chain).catch(cannotRemember)
    const { client, signal } = service
    const asked = await askTokens(wantedTokens(sql), {
      reindex: ({ address, id }) => client.reindexNft({ chainId: chain, address, tokenId: id }, { signal }),
      remember: (one) => memory.remember(one).catch(cannotRemember),
      ...{
        wait: (ms: number) => waitUnlessAborted(ms, signal),
        now: clock,
        concurrency: options.service.concurrency ?? 16,
      },
    }).finally(() => memory.close())
    const { accepted, limited, unknown, refused } = asked.counts
    const left = wantedNow(counts) - accepted - limited - unknown - refused
    return { ...counts, ...asked.counts, ...service.counts, left, told: asked.told, error: asked.error }
  } finally {
    await service.close()
  }
}

function waitUnlessAborted(ms: number, signal: AbortSignal): Promise<void> {
  return delay(ms, undefined, { signal }).catch(() => {})
}

function wantedNow({ missing, old, held }: TokenCounts): number {
  return missing + old - held
}

function memoryIn(place: string): string {
  return join(place, 'asked.ndjson')
}

async function load({ output, place, options }: Reindexing): Promise<{ sql: TokenSql; counts: TokenCounts }> {
  const { rows, manifest, eachFile } = output
  const { olderThanMs, clock = Date.now } = options
  const csv = manifest.job.format === 'csv'
  const sql: TokenSql = {
    ...{ run: rows.run, all: rows.all, eachFile },
    epochMs: (column) => (csv ? `epoch_ms(CAST(${column} AS TIMESTAMP))` : `epoch_us(${column}) // 1000`),
  }
  const nowMs = clock()
  await loadTokens(sql)
  await loadAsked(sql, readMemory(memoryIn(place), { chain: manifest.job.chain, nowMs }))
  return { sql, counts: await chooseTokens(sql, { nowMs, olderThanMs }) }
}

/** Leaves one whole line a token: repeats, damage and a last line that was cut go. */
async function rewriteMemory(sql: TokenSql, { path, chain }: { path: string; chain: string }): Promise<void> {
  try {
    const { path: temporary, handle } = await createTemporary(path, PRIVATE_MODE)
    try {
      for await (const batch of askedBefore(sql))
        await handle.appendFile(batch.map((asked) => writeLine(asked, chain)).join(''))
    } finally {
      await handle.close()
    }
    await publishFile(temporary, path)
  } catch (cause) {
    cannotRemember(cause)
  }
}

function cannotRemember(cause: unknown): never {
  throw diskError('cannot remember which tokens were asked for', cause)
}
