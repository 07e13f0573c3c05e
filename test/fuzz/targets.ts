import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { crc32 } from 'node:zlib'
import fc from 'fast-check'
import { openCheckpoint } from '../../src/checkpoint/open-checkpoint.ts'
import { wrappedCoinOf } from '../../src/core/model/chains.ts'
import { ExportError } from '../../src/core/model/errors.ts'
import { parseBytes } from '../../src/core/platform/byte-text.ts'
import { parseHolder } from '../../src/core/platform/lock/holder.ts'
import { TABLE_NAMES, TABLES } from '../../src/core/table/index.ts'
import { inspectJob } from '../../src/export/inspect-output.ts'
import { isJobComplete } from '../../src/export/private-folder.ts'
import { readManifestIfExists } from '../../src/files/publish.ts'
import { parseRetryAfter } from '../../src/http/read-outcome.ts'
import { type RequestContext, request } from '../../src/http/request.ts'
import { readJob } from '../../src/job/read-job.ts'
import { dataApi } from '../../src/sources/data-api/data-api.ts'
import { readPage } from '../../src/sources/data-api/pages/page.ts'
import type { ByteRange } from '../../src/sources/source.ts'
import { splitPage } from '../../src/sources/split-list.ts'
import { folderStore } from '../../src/storage/store.ts'
import { flattenTransaction, type Reject } from '../../src/transform/flatten-transaction.ts'
import { mergeItems } from '../../src/transform/merge/merge-items.ts'
import { itemsOfPage, type WalletItem } from '../../src/transform/merge/page-items.ts'
import { verifyOutput } from '../../src/verify/export/verify-output.ts'
import { listed } from '../checkpoint/open.ts'
import { fakeClient } from '../helpers/fake-client.ts'
import { testJob } from '../helpers/jobs.ts'
import { parsedListing } from '../sources/data-api/pages/parsed-listing.ts'
import { rowProblem } from './check-row.ts'
import { edited, mutated } from './mutate.ts'
import { pathTargets } from './path-targets.ts'
import type { Samples } from './samples.ts'

/**
 * Code that reads untrusted input: it may reject any input with a known failure, but must not fail in any
 * other way.
 */
export type Target = {
  name: string
  input: fc.Arbitrary<unknown>
  /** Throws if there is a bug. `folder` is exclusive to this call. */
  read: (input: unknown, folder: string) => unknown
  /** Cost of an input relative to a target of average speed. */
  cost: number
}

/** An error without a code, or with the code BUG, is a bug. */
export async function expectKnownFailure(work: () => unknown): Promise<void> {
  try {
    await work()
  } catch (thrown) {
    if (!(thrown instanceof ExportError) || thrown.code === 'BUG') throw thrown
    if (thrown.message === '' || thrown.fix === '') throw new Error(`${thrown.code} has no message or fix`)
  }
}

/** All targets except those in separate files. */
export function fuzzTargets(samples: Samples): Target[] {
  return [
    ...jobTargets(samples),
    ...pageTargets(samples),
    ...outputTargets(samples),
    ...pathTargets(samples.manifest),
  ]
}

function jobTargets({ job, yaml, addresses }: Samples): Target[] {
  const read =
    (name: string, write: (input: never, folder: string) => void) => (input: unknown, folder: string) => {
      write(input as never, folder)
      return readJob(join(folder, name), { overrides: {}, env: {} })
    }
  const put = (folder: string, name: string, content: string | Uint8Array) =>
    writeFileSync(join(folder, name), content)
  return [
    {
      name: 'job files of other fields',
      input: mutated(job).map((value) => JSON.stringify(value)),
      read: read('job.json', (text: string, folder) => put(folder, 'job.json', text)),
      cost: 1,
    },
    {
      name: 'job files of other bytes',
      input: edited(yaml),
      read: read('job.yaml', (bytes: Buffer, folder) => put(folder, 'job.yaml', bytes)),
      cost: 1,
    },
    {
      name: 'address files of other bytes',
      input: edited(addresses),
      read: read('job.json', (bytes: Buffer, folder) => {
        put(folder, 'job.json', JSON.stringify({ chain: 1, addressesFile: 'wallets.csv' }))
        put(folder, 'wallets.csv', bytes)
      }),
      cost: 1,
    },
  ]
}

const WALLET = `0x${'ab'.repeat(20)}`
const LIMITS = { range: { from: 0, to: 2 ** 40 }, cutoffMs: Number.POSITIVE_INFINITY, order: 'asc' } as const

function pageTargets({ page }: Samples): Target[] {
  const text = (value: unknown) => Buffer.from(JSON.stringify(value) ?? '')
  return [
    {
      name: 'pages of other fields',
      input: mutated(page).map(text),
      read: (body) => exportPage(body as Buffer),
      cost: 1,
    },
    {
      name: 'pages of other bytes',
      input: edited(JSON.stringify(page)),
      read: (body) => exportPage(body as Buffer),
      cost: 1,
    },
    {
      name: 'responses of any kind',
      input: responses(page),
      read: (response) => sendOnce(response as FuzzedResponse),
      cost: 1,
    },
    { name: 'Retry-After', input: retryAfter, read: (text) => expectDelay(text as string), cost: 1 },
  ]
}

/** Processes a page from its receipt to the rows of all tables and checks every cell. */
async function exportPage(body: Buffer): Promise<void> {
  const { items, blocks, keys, next } = readPage(body, LIMITS)
  const expectedKeys = keys.map(({ block, hash, second, lastMs }) => ({ block, hash, second, lastMs }))
  if (!isDeepStrictEqual({ items, keys: expectedKeys, next }, parsedListing(body.toString())))
    throw new Error('a page reads differently from its parsed JSON')
  const rejected: Reject[] = []
  const context = {
    source: dataApi,
    chain: '43114',
    nativeSymbol: 'AVAX',
    wrappedCoinOf: (chain: string) => wrappedCoinOf({ chain }),
    tables: new Set(TABLE_NAMES),
    wallets: new Map([[WALLET, null]]),
    fees: { from: 'listing' } as const,
    onReject: (reject: Reject) => rejected.push(reject),
  }
  const { items: found, entries } = itemsOfPage({ wallet: WALLET, body, source: dataApi })
  if (blocks !== undefined && found.some(({ key }) => key.block < blocks.min || key.block > blocks.max))
    throw new Error('an item is outside the block range of its page')
  const parts = splitPage(body) ?? []
  if (parts.length === entries && found.some((item) => !isFoundIn(body, item, parts)))
    throw new Error('an item has a wrong position in its page')
  const source = { keyRange: null, load: () => found }
  let count = 0
  for (const views of mergeItems([source])) {
    const flat = flattenTransaction(views, context)
    for (const table of TABLES) {
      for (const row of flat?.rows[table.name] ?? []) {
        count += 1
        const problem = rowProblem({ ...flat?.prefix, ...row }, table)
        if (problem !== undefined) throw new Error(`a wrong row: ${problem}`)
      }
    }
  }
  if (items < found.length || (items > 0 && found.length > 0 && count === 0 && rejected.length === 0))
    throw new Error('items were lost')
  for (const reject of rejected) JSON.stringify(reject)
}

function isFoundIn(body: Buffer, { item, listIndex }: WalletItem, parts: readonly ByteRange[]): boolean {
  const [from, to] = parts[listIndex] ?? [0, 0]
  return isDeepStrictEqual(parseBytes(body.subarray(from, to)), item)
}

type FuzzedResponse = { status: number; headers: Record<string, string>; body: Buffer }

const headerNames = [
  'retry-after',
  'ratelimit-reset',
  'ratelimit-remaining',
  'content-encoding',
  'content-type',
]
const retryAfter = fc.oneof(
  fc.constantFrom(
    '0',
    '-1',
    '1e9',
    'soon',
    '',
    'NaN',
    '99999999999999999999',
    '0x10',
    'Sun, 06 Nov 1994 08:49:37 GMT',
    '1,2',
  ),
  fc.string(),
  fc.double().map(String),
  fc.date({ noInvalidDate: true }).map((date) => date.toUTCString()),
)

function responses(page: unknown): fc.Arbitrary<FuzzedResponse> {
  const body = fc.oneof(
    fc.uint8Array({ maxLength: 60 }).map((bytes) => Buffer.from(bytes)),
    mutated({ message: ['one', 'two'], statusCode: 400, error: 'Bad Request' }).map((value) =>
      Buffer.from(JSON.stringify(value) ?? ''),
    ),
    mutated(page).map((value) => Buffer.from(JSON.stringify(value) ?? '')),
  )
  const status = fc.oneof(
    fc.constantFrom(200, 201, 204, 206, 304, 400, 401, 403, 404, 408, 409, 422, 500, 502, 503),
    fc.integer({ min: 100, max: 999 }),
  )
  return fc.record({ status, headers: fc.dictionary(fc.constantFrom(...headerNames), retryAfter), body })
}

/** Sends a request that receives this response, without waiting or retrying. */
function sendOnce(response: FuzzedResponse): Promise<unknown> {
  const noop = () => {}
  const requestContext: RequestContext = {
    client: fakeClient(async () => response),
    rateLimiter: { acquire: async () => noop, pausedForMs: () => 0 },
    limit: (task) => task(),
    retry: { retries: 0 },
    signal: AbortSignal.abort(new ExportError('BUDGET_REACHED', 'no retry')),
    onEvent: noop,
  }
  const signal = response.status === 429 ? requestContext.signal : new AbortController().signal
  const page = { method: 'GET', pathAndQuery: '/v1', description: 'a page' } as const
  return request({ ...requestContext, signal }, page, (body) => readPage(body, LIMITS))
}

function expectDelay(text: string): void {
  const ms = parseRetryAfter(text, Date.now())
  if (ms !== undefined && !(ms >= 0)) throw new Error(`Retry-After ${text} makes ${ms} ms`)
}

function outputTargets({ manifest, log, output }: Samples): Target[] {
  const jobIn = (folder: string) => testJob({ addresses: [WALLET], output: folder })
  const identity = { chain: '43114', startBlock: 0, endBlock: 421, finalityMs: 0 }
  const openLog = async (bytes: unknown, folder: string) => {
    const privateFolder = join(folder, '.walletlake')
    mkdirSync(privateFolder, { recursive: true })
    writeFileSync(join(privateFolder, 'pages.log'), bytes as Buffer)
    await inspectJob(jobIn(folder))
    const checkpoint = await openCheckpoint({ folder: privateFolder, identity, now: 1, onDamage: () => {} })
    try {
      const wallets = listed(WALLET)
      for (const { from, to } of checkpoint.remaining(WALLET))
        if (!(from <= to)) throw new Error('an invalid range')
      for (const { location } of checkpoint.records(wallets))
        JSON.parse((await checkpoint.read(location)).toString())
      await checkpoint.pinEndBlock()
    } finally {
      await checkpoint.close()
    }
  }
  return [
    {
      name: 'locks',
      input: fc.oneof(
        mutated({ pid: 1, host: 'h', startedAt: 't', ticks: '1' }).map(
          (value) => JSON.stringify(value) ?? '',
        ),
        fc.string(),
      ),
      read: (text) => parseHolder(text as string),
      cost: 1,
    },
    { name: 'checkpoints of other bytes', input: edited(log), read: openLog, cost: 4 },
    { name: 'checkpoints of other records', input: records(), read: openLog, cost: 4 },
    {
      name: 'manifests before a run',
      input: mutated(manifest).map((value) => JSON.stringify(value) ?? ''),
      read: async (text, folder) => {
        mkdirSync(join(folder, '.walletlake'), { recursive: true })
        writeFileSync(join(folder, 'manifest.json'), text as string)
        await readManifestIfExists(folder)
        await isJobComplete(jobIn(folder), folderStore(folder))
        await inspectJob({ ...jobIn(folder), endBlock: undefined })
      },
      cost: 4,
    },
    {
      name: 'manifests of an output that is verified',
      input: mutated(manifest).map((value) => JSON.stringify(value) ?? ''),
      read: async (text) => {
        const path = join(output, 'manifest.json')
        const before = readFileSync(path)
        writeFileSync(path, text as string)
        const { ok } = await verifyOutput(output).finally(() => writeFileSync(path, before))
        if (
          ok &&
          JSON.stringify(JSON.parse(text as string)) !== JSON.stringify(JSON.parse(before.toString()))
        )
          throw new Error('a modified manifest passed verification')
      },
      cost: 400,
    },
  ]
}

/** Checkpoints with valid checksums whose records this version, or another one, may have written. */
function records(): fc.Arbitrary<Buffer> {
  const identity = { chain: '43114', startBlock: 0, endBlock: 421, finalityMs: 0 }
  const page = {
    kind: 'page',
    wallet: WALLET,
    items: 1,
    bad: 0,
    blocks: { min: 1, max: 9 },
    head: null,
    covered: { from: 0, to: 9 },
  }
  const seen = { [WALLET]: 3 }
  const heads = [
    { kind: 'run', identity, cutoffMs: null, at: 1 },
    { kind: 'run', identity, cutoffMs: null, at: 1, before: { from: 0, to: 5, seen } },
    { kind: 'open', at: 2 },
    page,
    { kind: 'end', end: 421 },
    { kind: 'done', from: 0, to: 421, seen },
    { kind: 'next', cutoffMs: 5, from: 400 },
  ]
  const head = fc.oneof(fc.constantFrom(...heads), fc.oneof(...heads.map((valid) => mutated(valid))))
  const record = fc.tuple(head, fc.constant('{"transactions":[]}'))
  return fc
    .array(record, { maxLength: 5 })
    .map((all) => Buffer.concat([[heads[0], ''] as const, ...all].map(recordOf)))
}

function recordOf([head, text]: readonly [unknown, string]): Buffer {
  const body = Buffer.from(text)
  const fields = typeof head === 'object' && head !== null && !Array.isArray(head) ? head : { kind: head }
  const json = JSON.stringify({ bytes: body.length, crc: crc32(body), ...fields })
  return Buffer.concat([
    Buffer.from(`WLF2 ${crc32(json).toString(16).padStart(8, '0')} ${json}\n`),
    body,
    Buffer.from('\n'),
  ])
}
