import { stat } from 'node:fs/promises'
import { isNft } from '../../core/model/asset.ts'
import { chainIdOf } from '../../core/model/chains.ts'
import { ExportError } from '../../core/model/errors.ts'
import { csvRows } from '../../core/platform/csv-rows.ts'
import { readTextIfExists } from '../../core/platform/disk.ts'
import { resolveWritePath, writeNamedFile } from '../../core/platform/user-file.ts'
import { readRecords, recordError } from '../../read/csv-records.ts'
import type { Dataset } from '../../read/dataset.ts'
import { type Asset, assetKey } from '../movement.ts'
import { tickerName } from './asset-name.ts'
import { type Contracts, withContract } from './contracts.ts'
import { withFileLock } from './file-lock.ts'
import type { TokenName } from './tickers.ts'

/** Returns the numbered placeholder, such as `NULL1` or `NFT1`, of an asset that the program does not know. */
export type PlaceholderOf = (asset: Asset, chain: string) => string

export const PLACEHOLDER = /^(NULL|NFT)([1-9]\d{0,8})$/

const COLUMNS = ['placeholder', 'chain_id', 'asset_type', 'asset_address', 'token_id', 'name'] as const

/** The contents of the file: placeholders by chain and asset, its rows, and the highest number of each kind. */
type PlaceholderNumbers = {
  names: Map<string, string>
  rows: string[][]
  counts: { NULL: number; NFT: number }
}

type ChainAsset = { asset: Asset; chain: string }

const keyOf = ({ asset, chain }: ChainAsset) => `${chain}|${assetKey(asset)}`

/**
 * Numbers the assets of exports that have no ticker, export by export in ledger order, and stores the numbers in a file. A token that
 * had a number before the table of well-known tokens contained it keeps the number, under which earlier files name it;
 * a ticker of the user's file takes precedence. A number stands for the same asset
 * permanently, regardless of the converted period and of other exports that share the file. The file is complete on
 * disk before this returns. Throws USAGE if the file has other contents or cannot be written.
 */
export async function assignPlaceholders(
  file: string,
  { sources, opening }: { sources: readonly NamedExport[]; opening: readonly ChainAsset[] },
): Promise<PlaceholderOf> {
  const assigned = new Map<string, string>()
  for (const source of sources) {
    const { keys, numbers } = await updateNumbers(file, {
      ...source,
      opening,
      isOnly: sources.length === 1,
    }).catch((cause: unknown) => {
      throw mapFileError(file, cause)
    })
    for (const key of keys) assigned.set(key, placeholderOf(key, numbers, source.contracts))
  }
  return (asset, chain) =>
    asset.address === null ? tickerName(asset) : (assigned.get(keyOf({ asset, chain })) ?? '')
}

function placeholderOf(key: string, { names }: PlaceholderNumbers, contracts: Contracts): string {
  const ticker = tickerOf(key, contracts)
  if (ticker?.isUsers === true) return ticker.name
  return names.get(key) ?? ticker?.name ?? ''
}

type NamedExport = { opened: Dataset; contracts: Contracts }

type ExportedAssets = NamedExport & {
  /** Whether the conversion is of one export, to whose chain a file without the column chain_id belongs. */
  isOnly: boolean
  /** Further assets, which the ledger may lack. They are numbered after those of the ledger. */
  opening: readonly ChainAsset[]
}

async function updateNumbers(
  file: string,
  { opened, contracts, opening, isOnly }: ExportedAssets,
): Promise<{ keys: string[]; numbers: PlaceholderNumbers }> {
  const destination = await resolveWritePath(file, 'Name a file with --map.')
  const ownChain = chainIdOf(opened.manifest.job.chain)
  const tokens = opening.filter(({ asset, chain }) => asset.address !== null && chain === ownChain)
  const assets = [...(await assetsInOrder({ opened, contracts })), ...tokens]
  const keys = assets.map(keyOf)
  const chain = isOnly ? (keys[0]?.split('|')[0] ?? '') : undefined
  const numbers = await readNumbers(file, destination, chain)
  if (keys.every((key) => numbers.names.has(key) || hasTicker(key, contracts))) return { keys, numbers }
  return withFileLock(destination, async () => {
    // Another conversion may have numbered some assets since the first read.
    const newest = await readNumbers(file, destination, chain)
    const previousCount = newest.rows.length
    for (const asset of assets)
      if (!newest.names.has(keyOf(asset)) && !hasTicker(keyOf(asset), contracts)) assignNumber(newest, asset)
    if (newest.rows.length > previousCount)
      await writeNamedFile(destination, csvRows([COLUMNS, ...newest.rows]))
    return { keys, numbers: newest }
  })
}

function tickerOf(key: string, contracts: Contracts): TokenName | undefined {
  const [, type, address] = key.split('|')
  return contracts.get(`${type}|${address}`)?.ticker
}

const hasTicker = (key: string, contracts: Contracts) => tickerOf(key, contracts) !== undefined

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
  const numbers: PlaceholderNumbers = { names: new Map(), rows: [], counts: { NULL: 0, NFT: 0 } }
  const entry = await stat(destination).catch(() => undefined)
  if (entry?.isDirectory() !== true && (await readTextIfExists(destination)) === undefined) return numbers
  const seen = new Map<string, number>()
  await readRecords(
    file,
    COLUMNS.filter((name) => name !== 'chain_id' || chain === undefined),
    ({ line, cells }) => {
      const { placeholder = '', asset_type = '', asset_address = '', token_id = '', name = '' } = cells
      const { chain_id = chain ?? '' } = cells
      const key = `${chain_id}|${asset_type}|${asset_address}|${token_id || null}`
      const error = (found: string, expected: string) => recordError({ file, line }, { found, expected })
      const [, kind, number] = PLACEHOLDER.exec(placeholder) ?? []
      if (kind === undefined) throw error(`placeholder ${placeholder}`, 'NULL1, NFT1 and so on')
      if (seen.has(placeholder))
        throw error(`${placeholder} again, as in line ${seen.get(placeholder)}`, 'another number')
      if (numbers.names.has(key)) throw error(`${asset_address} again`, 'one number per asset')
      seen.set(placeholder, line)
      numbers.names.set(key, placeholder)
      numbers.counts[kind as 'NULL' | 'NFT'] = Math.max(
        numbers.counts[kind as 'NULL' | 'NFT'],
        Number(number),
      )
      numbers.rows.push([placeholder, chain_id, asset_type, asset_address, token_id, name])
    },
  )
  return numbers
}

function assignNumber({ names, rows, counts }: PlaceholderNumbers, chainAsset: ChainAsset): void {
  const { asset, chain } = chainAsset
  const kind = isNft(asset) ? 'NFT' : 'NULL'
  counts[kind] += 1
  const placeholder = `${kind}${counts[kind]}`
  names.set(keyOf(chainAsset), placeholder)
  rows.push([placeholder, chain, asset.type, asset.address ?? '', asset.tokenId ?? '', tickerName(asset)])
}

/** The tokens of the ledger, in the order of their first rows. */
async function assetsInOrder({ opened, contracts }: NamedExport): Promise<ChainAsset[]> {
  const { eachFile, run, all } = opened
  await run(
    'CREATE OR REPLACE TABLE named (chain VARCHAR, type VARCHAR, address VARCHAR, id VARCHAR, file INTEGER, first BIGINT)',
  )
  let file = 0
  await eachFile(
    'ledger',
    (source) =>
      `INSERT INTO named SELECT chain_id, asset_type, asset_address, token_id, ${file++}, min(row) ` +
      `FROM (SELECT *, row_number() OVER () AS row FROM ${source}) WHERE asset_address IS NOT NULL GROUP BY ALL`,
  )
  const found = await all(
    'SELECT chain, type, address, id FROM named GROUP BY ALL ORDER BY min(file), arg_min(first, file)',
  )
  return found.map(({ chain, type, address, id }) => {
    const tokenId = id === null ? null : String(id)
    const token = { type: type as Asset['type'], address: String(address), tokenId }
    return {
      asset: withContract({ ...token, symbol: null, decimals: null }, contracts),
      chain: String(chain),
    }
  })
}
