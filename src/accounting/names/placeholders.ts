import { randomBytes } from 'node:crypto'
import { open, rename, rm } from 'node:fs/promises'
import { setTimeout as wait } from 'node:timers/promises'
import { isNft } from '../../core/model/asset.ts'
import { chainIdOf } from '../../core/model/chains.ts'
import { ExportError } from '../../core/model/errors.ts'
import { csvRows } from '../../core/platform/csv-rows.ts'
import { makeParentFolder, readTextIfExists } from '../../core/platform/disk.ts'
import { entryAt } from '../../core/platform/entry.ts'
import { RETRY_POLICIES } from '../../core/platform/retry.ts'
import { resolveWritePath, writeNamedFile } from '../../core/platform/user-file.ts'
import { readRecords } from '../../read/csv-records.ts'
import type { Dataset } from '../../read/dataset.ts'
import type { Preset } from '../csv/preset.ts'
import { type Asset, assetKey } from '../movement.ts'
import { defaultMapPath, siblingPath } from '../options.ts'
import type { Conversion, UsedPlaceholders, WrittenExport } from '../text-writer.ts'
import { type Contracts, contractKey, withContract } from './contracts.ts'
import { tickerName } from './names.ts'

/** Returns the numbered placeholder, such as `NULL1` or `NFT1`, of an asset that the program does not know. */
export type PlaceholderOf = (asset: Asset, chain: string) => string

const PLACEHOLDER = /^(NULL|NFT)([1-9]\d{0,8})$/

/** Returns the placeholders of a format, if it names assets by them, and those that were used. Throws USAGE. */
export async function openPlaceholders(
  formats: readonly Preset[],
  { options: { map, out }, sources, opening }: Conversion,
): Promise<{ placeholderOf: PlaceholderOf; used(): UsedPlaceholders | undefined }> {
  if (!formats.some(({ naming }) => naming === 'placeholder'))
    return { placeholderOf: () => '', used: () => undefined }
  if (map === undefined && out !== undefined) await rejectSiblingMap(siblingPath(out, 'assets.csv'))
  const file = map ?? (await defaultMapPath(sources.map(({ output }) => output)))
  const assigned = await assignPlaceholders(file, sources, opening)
  const names = new Set<string>()
  return {
    placeholderOf: (asset, chain) => {
      if (asset.address === null) return tickerName(asset)
      const name = assigned.get(keyOf({ asset, chain })) ?? ''
      if (PLACEHOLDER.test(name)) names.add(name)
      return name
    },
    used: () => (names.size === 0 ? undefined : { names: [...names], file }),
  }
}

/**
 * Earlier versions stored placeholder numbers next to each converted file, so a number had different meanings in
 * different files.
 */
async function rejectSiblingMap(file: string): Promise<void> {
  if ((await readTextIfExists(file)) === undefined) return
  throw new ExportError('USAGE', `${file} contains asset numbers that files imported earlier may use`, {
    fix: `Pass --map ${file} every time to keep them, or remove the file to number the assets of the export anew.`,
  })
}

const COLUMNS = ['placeholder', 'chain_id', 'asset_type', 'asset_address', 'token_id', 'name'] as const

/** The contents of the file: placeholders by chain and asset, its rows, and the highest number of each kind. */
type PlaceholderNumbers = {
  names: Map<string, string>
  rows: string[][]
  counts: Record<string, number>
}

type ChainAsset = { asset: Asset; chain: string }

const keyOf = ({ asset, chain }: ChainAsset) => `${chain}|${assetKey(asset)}`

/**
 * Numbers the assets of exports that have no ticker, export by export in ledger order, and stores the numbers in a file. A token that
 * had a number before the table of well-known tokens contained it keeps the number, under which earlier files name it;
 * a ticker of the user's file takes precedence. A number stands for the same asset permanently, regardless of the
 * converted period and of other exports that share the file. The file is complete on disk before this returns. Throws USAGE if the file has other contents or cannot be written.
 */
async function assignPlaceholders(
  file: string,
  sources: readonly WrittenExport[],
  opening: readonly ChainAsset[],
): Promise<ReadonlyMap<string, string>> {
  const assigned = new Map<string, string>()
  for (const { opened, contracts } of sources) {
    const ownChain = chainIdOf(opened.manifest.job.chain)
    // The ledger may lack assets of opening balances.
    const held = opening.filter(({ asset, chain }) => asset.address !== null && chain === ownChain)
    const assets = [...(await assetsInOrder(opened, contracts)), ...held]
    const tickerOf = ({ asset }: ChainAsset) => contracts.get(contractKey(asset))?.ticker
    // A file without the column chain_id belongs to the chain of the only export.
    const fileChain = sources.length === 1 ? (assets[0]?.chain ?? '') : undefined
    const unnamed = assets.filter((asset) => tickerOf(asset) === undefined)
    const { names } = await updateNumbers(file, fileChain, unnamed).catch((cause: unknown) => {
      throw mapFileError(file, cause)
    })
    for (const asset of assets) {
      const [key, ticker] = [keyOf(asset), tickerOf(asset)]
      assigned.set(key, (ticker?.isUsers === true ? undefined : names.get(key)) ?? ticker?.name ?? '')
    }
  }
  return assigned
}

/** Numbers the assets that the file does not contain yet. */
async function updateNumbers(
  file: string,
  chain: string | undefined,
  assets: readonly ChainAsset[],
): Promise<PlaceholderNumbers> {
  const destination = await resolveWritePath(file, 'Name a file with --map.')
  const numbers = await readNumbers(file, destination, chain)
  if (assets.every((asset) => numbers.names.has(keyOf(asset)))) return numbers
  return withFileLock(destination, async () => {
    // Another conversion may have numbered some assets since the first read.
    const newest = await readNumbers(file, destination, chain)
    const previousCount = newest.rows.length
    for (const asset of assets) if (!newest.names.has(keyOf(asset))) assignNumber(newest, asset)
    if (newest.rows.length > previousCount)
      await writeNamedFile(destination, csvRows([COLUMNS, ...newest.rows]))
    return newest
  })
}

function mapFileError(file: string, cause: unknown): unknown {
  if (cause instanceof ExportError && cause.code !== 'OUTPUT_FAILED') return cause
  const { code, message } = cause as NodeJS.ErrnoException
  const reason = cause instanceof ExportError ? cause.message : (code ?? message)
  return new ExportError('USAGE', `cannot keep the numbers of unknown assets in ${file}: ${reason}`, {
    fix: 'Name a writable file with --map, and use the same one every time.',
    cause,
  })
}

/** Reads the file if it exists. Its column chain_id may be missing if `chain` is given. */
async function readNumbers(
  file: string,
  destination: string,
  chain: string | undefined,
): Promise<PlaceholderNumbers> {
  const numbers: PlaceholderNumbers = { names: new Map(), rows: [], counts: {} }
  const entry = await entryAt(destination)
  if (entry?.isDirectory() !== true && (await readTextIfExists(destination)) === undefined) return numbers
  const seen = new Map<string, number>()
  await readRecords(
    file,
    COLUMNS.filter((name) => name !== 'chain_id' || chain === undefined),
    ({ line, cells, error }) => {
      const { placeholder = '', asset_type = '', asset_address = '', token_id = '', name = '' } = cells
      const { chain_id = chain ?? '' } = cells
      const key = `${chain_id}|${asset_type}|${asset_address}|${token_id || null}`
      const [, kind, number] = PLACEHOLDER.exec(placeholder) ?? []
      if (kind === undefined) throw error(`placeholder ${placeholder}`, 'NULL1, NFT1 and so on')
      if (seen.has(placeholder))
        throw error(`${placeholder} again, as in line ${seen.get(placeholder)}`, 'another number')
      if (numbers.names.has(key)) throw error(`${asset_address} again`, 'one number per asset')
      seen.set(placeholder, line)
      numbers.names.set(key, placeholder)
      numbers.counts[kind] = Math.max(numbers.counts[kind] ?? 0, Number(number))
      numbers.rows.push([placeholder, chain_id, asset_type, asset_address, token_id, name])
    },
  )
  return numbers
}

function assignNumber({ names, rows, counts }: PlaceholderNumbers, { asset, chain }: ChainAsset): void {
  const kind = isNft(asset) ? 'NFT' : 'NULL'
  const number = (counts[kind] ?? 0) + 1
  counts[kind] = number
  const placeholder = `${kind}${number}`
  names.set(keyOf({ asset, chain }), placeholder)
  rows.push([placeholder, chain, asset.type, asset.address ?? '', asset.tokenId ?? '', tickerName(asset)])
}

/** The tokens of the ledger, in the order of their first rows. */
async function assetsInOrder({ collect, all }: Dataset, contracts: Contracts): Promise<ChainAsset[]> {
  let file = 0
  await collect(
    'named (chain VARCHAR, type VARCHAR, address VARCHAR, id VARCHAR, file INTEGER, first BIGINT)',
    'ledger',
    (source) =>
      `SELECT chain_id, asset_type, asset_address, token_id, ${file++}, min(row) ` +
      `FROM (SELECT *, row_number() OVER () AS row FROM ${source}) WHERE asset_address IS NOT NULL GROUP BY ALL`,
  )
  const rows = await all(
    'SELECT chain, type, address, id FROM named GROUP BY ALL ORDER BY min(file), arg_min(first, file)',
  )
  return rows.map(({ chain, type, address, id }) => {
    const tokenId = id === null ? null : String(id)
    const token = { type: type as Asset['type'], address: String(address), tokenId }
    return {
      asset: withContract({ ...token, symbol: null, decimals: null }, contracts),
      chain: String(chain),
    }
  })
}

/** A lock is held for milliseconds, so one of this age was left by a killed process. */
const STALE_MS = 60_000

/** Runs work under an exclusive lock of a file. Throws OUTPUT_LOCKED if another process does not release the lock in time. */
async function withFileLock<T>(file: string, work: () => Promise<T>): Promise<T> {
  const lock = `${file}.lock`
  await makeParentFolder(file)
  for (let attempt = 0; !(await tryLock(lock)); attempt += 1) {
    if (attempt === RETRY_POLICIES.fileLock.retries)
      throw new ExportError('OUTPUT_LOCKED', `another conversion holds ${lock}`, {
        fix: `Wait until it ends. If none is running, remove ${lock}.`,
      })
    await removeIfStale(lock)
    await wait(RETRY_POLICIES.fileLock.firstDelayMs)
  }
  try {
    return await work()
  } finally {
    await rm(lock, { force: true })
  }
}

async function tryLock(lock: string): Promise<boolean> {
  try {
    await (await open(lock, 'wx')).close()
    return true
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'EEXIST') return false
    throw cause
  }
}

/**
 * Removes a stale lock. Only one of several processes succeeds in renaming it. The renamed lock is checked again,
 * because another process may have replaced the stale lock by a new one in between; a new one is restored.
 */
async function removeIfStale(lock: string): Promise<void> {
  if (!(await isStale(lock))) return
  const renamedLock = `${lock}.${process.pid}.${randomBytes(6).toString('hex')}`
  const isRenamed = await rename(lock, renamedLock).then(
    () => true,
    () => false,
  )
  if (!isRenamed) return
  if (await isStale(renamedLock)) await rm(renamedLock, { force: true })
  else await rename(renamedLock, lock)
}

async function isStale(path: string): Promise<boolean> {
  const entry = await entryAt(path)
  return entry !== undefined && Date.now() - entry.mtimeMs > STALE_MS
}
