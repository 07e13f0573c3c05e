import { stat } from 'node:fs/promises'
import { isNft } from '../../core/model/asset.ts'
import { ExportError } from '../../core/model/errors.ts'
import { csvLine } from '../../core/platform/csv-text.ts'
import { readTextIfAny } from '../../core/platform/disk.ts'
import { placeToWrite, writeNamedFile } from '../../core/platform/user-file.ts'
import { readRecords, recordFault } from '../../read/csv-records.ts'
import type { OpenedExport } from '../../read/open-export.ts'
import { type Asset, assetKey } from '../movement.ts'
import { tickerName } from './asset-name.ts'
import { type Contracts, ofContract } from './contracts.ts'
import { withFileLock } from './file-lock.ts'

/** The numbered name of an asset that a program does not know, `NULL1` or `NFT1`. */
export type PlaceholderOf = (asset: Asset, chain: string) => string

const COLUMNS = ['placeholder', 'chain_id', 'asset_type', 'asset_address', 'token_id', 'name'] as const

/** What a file says: names by chain and asset, and its lines. */
type Numbers = {
  names: Map<string, string>
  lines: string[]
  counts: { NULL: number; NFT: number }
}

type ChainAsset = { asset: Asset; chain: string }

const keyOf = ({ asset, chain }: ChainAsset) => `${chain}|${assetKey(asset)}`

/**
 * Numbers all assets of an export, in the order in which its ledger names them, and keeps the numbers in a file: whatever part
 * of the export is converted, and whatever other exports share the file, a number stands for one asset for good. The file is
 * complete on disk before this returns. Throws USAGE where it holds something else, or cannot be kept there.
 */
export async function numberAssets(file: string, known: KnownAssets): Promise<PlaceholderOf> {
  const { names } = await keepNumbers(file, known).catch((cause: unknown) => {
    throw unkept(file, cause)
  })
  return (asset, chain) =>
    asset.address === null ? tickerName(asset) : (names.get(keyOf({ asset, chain })) ?? '')
}

type KnownAssets = { opened: OpenedExport; contracts: Contracts }

async function keepNumbers(file: string, { opened, contracts }: KnownAssets): Promise<Numbers> {
  const place = await placeToWrite(file, 'Name a file with --map.')
  const keys = await assetKeys(opened)
  // A file without the column chain_id is of this export's chain.
  const chain = keys[0]?.split('|')[0] ?? ''
  const numbers = await readNumbers(file, place, chain)
  if (keys.every((key) => numbers.names.has(key))) return numbers
  const assets = await assetsInOrder(opened, contracts)
  return withFileLock(place, async () => {
    // Another conversion may have numbered some of them meanwhile.
    const newest = await readNumbers(file, place, chain)
    const before = newest.lines.length
    for (const one of assets) if (!newest.names.has(keyOf(one))) addNumber(newest, one)
    if (newest.lines.length > before) await writeNamedFile(place, csvLine(COLUMNS) + newest.lines.join(''))
    return newest
  })
}

function unkept(file: string, cause: unknown): unknown {
  if (cause instanceof ExportError && cause.code !== 'OUTPUT_FAILED') return cause
  const { code, message } = cause as NodeJS.ErrnoException
  const reason = cause instanceof ExportError ? cause.message : (code ?? message)
  return new ExportError('USAGE', `cannot keep the numbers of unknown assets in ${file}: ${reason}`, {
    fix: 'Name a file that can be written with --map, and give the same one every time.',
    cause,
  })
}

/** Reads the file, if it is there. */
async function readNumbers(file: string, place: string, chain: string): Promise<Numbers> {
  const numbers: Numbers = { names: new Map(), lines: [], counts: { NULL: 0, NFT: 0 } }
  const entry = await stat(place).catch(() => undefined)
  if (entry?.isDirectory() !== true && (await readTextIfAny(place)) === undefined) return numbers
  const seen = new Map<string, number>()
  await readRecords(
    file,
    COLUMNS.filter((name) => name !== 'chain_id'),
    ({ line, cells }) => {
      const { placeholder = '', asset_type = '', asset_address = '', token_id = '', name = '' } = cells
      const { chain_id = chain } = cells
      const key = `${chain_id}|${asset_type}|${asset_address}|${token_id || null}`
      const fault = (found: string, expected: string) => recordFault({ file, line }, { found, expected })
      const [, kind, number] = /^(NULL|NFT)([1-9]\d{0,8})$/.exec(placeholder) ?? []
      if (kind === undefined) throw fault(`placeholder ${placeholder}`, 'NULL1, NFT1 and so on')
      if (seen.has(placeholder))
        throw fault(`${placeholder} again, as in line ${seen.get(placeholder)}`, 'another number')
      if (numbers.names.has(key)) throw fault(`${asset_address} again`, 'one number for an asset')
      seen.set(placeholder, line)
      numbers.names.set(key, placeholder)
      numbers.counts[kind as 'NULL' | 'NFT'] = Math.max(
        numbers.counts[kind as 'NULL' | 'NFT'],
        Number(number),
      )
      numbers.lines.push(csvLine([placeholder, chain_id, asset_type, asset_address, token_id, name]))
    },
  )
  return numbers
}

function addNumber({ names, lines, counts }: Numbers, one: ChainAsset): void {
  const { asset, chain } = one
  const kind = isNft(asset) ? 'NFT' : 'NULL'
  counts[kind] += 1
  const placeholder = `${kind}${counts[kind]}`
  names.set(keyOf(one), placeholder)
  lines.push(csvLine([placeholder, chain, asset.type, asset.address, asset.tokenId ?? '', tickerName(asset)]))
}

const ASSET_COLUMNS = ['chain_id', 'asset_type', 'asset_address', 'token_id', 'asset_symbol'] as const

async function assetKeys({ eachFile, rows }: OpenedExport): Promise<string[]> {
  await rows.run('CREATE OR REPLACE TABLE named (chain VARCHAR, type VARCHAR, address VARCHAR, id VARCHAR)')
  await eachFile(
    'ledger',
    (source) =>
      `INSERT INTO named SELECT DISTINCT chain_id, asset_type, asset_address, token_id FROM ${source} ` +
      'WHERE asset_address IS NOT NULL',
  )
  const found = await rows.all('SELECT DISTINCT chain, type, address, id FROM named')
  return found.map(({ chain, type, address, id }) => `${chain}|${type}|${address}|${id || null}`)
}

async function assetsInOrder(opened: OpenedExport, contracts: Contracts): Promise<ChainAsset[]> {
  const assets = new Map<string, ChainAsset>()
  for await (const rows of opened.stream('ledger', ASSET_COLUMNS)) {
    for (const [chain, type, address, tokenId, symbol] of rows) {
      if (address == null || chain == null) continue
      const asset: Asset = {
        type: type as Asset['type'],
        address,
        symbol: symbol ?? null,
        decimals: null,
        tokenId: tokenId ?? null,
      }
      const key = keyOf({ asset, chain })
      if (!assets.has(key)) assets.set(key, { asset: ofContract(asset, contracts), chain })
    }
  }
  return [...assets.values()]
}
