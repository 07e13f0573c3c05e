import { ADDRESS } from '../core/model/address.ts'
import { chainIdOf, parseChain } from '../core/model/chains.ts'
import { quoteLiteral } from '../core/platform/sql.ts'
import { readFungibleAssets } from '../ledger/prices/fungible-assets.ts'
import { NATIVE } from '../ledger/prices/priced-asset.ts'
import { readRecords } from '../read/csv-records.ts'
import { type OpenExport, openExport } from '../read/open-export.ts'
import { readTickerFile } from './names/ticker-file.ts'
import { FORMAT_NAMES } from './writers.ts'

/** The user's files about tokens and addresses, and that of opening balances, whose tokens may have no rows. */
export type UserFiles = Partial<Record<'tickers' | 'names' | 'prices' | 'opening', string | undefined>>

/** Lines of a user's file that apply to nothing in the exports. */
export type UnmatchedLines = {
  file: string
  /** Number of lines about a chain of the exports, or any chain, that matched nothing. */
  count: number
  /** The first of these lines; undefined if there is none. */
  first: { line: number; match: string } | undefined
  /** Number of lines about other chains. */
  ofOtherChains: number
  /** Number of lines that are filled in. */
  lines: number
}

/** A line of a user's file that is filled in. An export matches it if it has one of the keys. */
type UserLine = { line: number; match: string; chain: string; keys: readonly string[] }

const assetKey = (address: string | null) => `asset ${address?.toLowerCase() || NATIVE}`
const symbolKey = (symbol: string) => `symbol ${symbol}`
const partyKey = (address: string) => `party ${address.toLowerCase()}`

/**
 * Finds lines of the user's files that name no asset, wallet or counterparty of whole exports, which are probably mistakes.
 * The files must be valid.
 */
export async function findUnmatchedLines(
  outputs: readonly string[],
  { tickers, names, prices, opening }: UserFiles,
): Promise<UnmatchedLines[]> {
  const files: { file: string; lines: UserLine[] }[] = []
  if (tickers !== undefined) files.push({ file: tickers, lines: await readTickerLines(tickers) })
  if (names !== undefined) files.push({ file: names, lines: await readCells(names, nameLine) })
  if (prices !== undefined) files.push({ file: prices, lines: await readCells(prices, priceLine) })
  if (files.every(({ lines }) => lines.length === 0)) return []
  const opened = opening === undefined ? [] : await readCells(opening, openingLine)
  const parties = names === undefined ? [] : await readCells(names, nameLine)
  const keysByChain = new Map<string, Set<string>>()
  for (const output of outputs) {
    const { chain, keys } = await readKeys(output, parties)
    const known = keysByChain.get(chain) ?? opened.flatMap((line) => line.keys)
    keysByChain.set(chain, new Set([...known, ...keys]))
  }
  return files.map(({ file, lines }) => ({ file, ...countUnmatched(lines, keysByChain) }))
}

async function readTickerLines(file: string): Promise<UserLine[]> {
  const lines = await readTickerFile(file, FORMAT_NAMES)
  return lines.map(({ line, chain, contract, ticker }) => ({
    ...{ line, chain, match: `${ticker} ${contract}`.trim(), keys: [assetKey(contract)] },
  }))
}

/** Returns what a line is about, from its trimmed cells; undefined if it is not filled in. */
type ParseLine = (cells: Readonly<Record<string, string>>) => Pick<UserLine, 'match' | 'keys'> | undefined

const nameLine: ParseLine = ({ name = '', address = '' }) =>
  name === '' ? undefined : { match: `${name} ${address}`, keys: [partyKey(address)] }

const priceLine: ParseLine = ({ asset = '', price = '' }) => {
  if (price === '') return undefined
  const isSymbol = asset !== NATIVE && !ADDRESS.test(asset)
  return { match: asset, keys: [isSymbol ? symbolKey(asset) : assetKey(asset)] }
}

const openingLine: ParseLine = ({ asset_address: address = '' }) => ({
  match: address,
  keys: [assetKey(address)],
})

async function readCells(file: string, parse: ParseLine): Promise<UserLine[]> {
  const lines: UserLine[] = []
  await readRecords(file, [], ({ line, cells: untrimmed }) => {
    const cells = Object.fromEntries(Object.entries(untrimmed).map(([name, text]) => [name, text.trim()]))
    const parsed = parse(cells)
    if (parsed !== undefined) lines.push({ line, chain: cells.chain ?? '', ...parsed })
  })
  return lines
}

function countUnmatched(lines: readonly UserLine[], keysByChain: ReadonlyMap<string, ReadonlySet<string>>) {
  const applying = lines.flatMap((line) => {
    const ofLine = [...keysByChain].filter(
      ([chain]) => line.chain === '' || parseChain(line.chain, chain) === chain,
    )
    return ofLine.length === 0 ? [] : [{ ...line, exported: ofLine.map(([, keys]) => keys) }]
  })
  const unmatched = applying.filter(
    ({ keys, exported }) => !exported.some((known) => keys.some((key) => known.has(key))),
  )
  const [first] = unmatched
  return {
    count: unmatched.length,
    first: first && { line: first.line, match: first.match },
    ofOtherChains: lines.length - applying.length,
    lines: lines.length,
  }
}

/** Reads the keys of an export: its coin and tokens, its wallets, and those of `parties` that are counterparties. */
async function readKeys(output: string, parties: readonly UserLine[]) {
  const opened = await openExport(output)
  try {
    const { job, coverage } = opened.manifest
    const keys = coverage.map(({ address }) => partyKey(address))
    for (const { address, symbol } of await readFungibleAssets(opened))
      keys.push(assetKey(address), symbolKey(symbol ?? ''))
    return { chain: chainIdOf(job.chain), keys: keys.concat(await readParties(opened, parties)) }
  } finally {
    await opened.close()
  }
}

async function readParties(
  { database, eachFile }: OpenExport,
  parties: readonly UserLine[],
): Promise<string[]> {
  if (parties.length === 0) return []
  const keys = parties.flatMap((line) => line.keys.map(quoteLiteral)).join(', ')
  await database.run('CREATE OR REPLACE TABLE parties (key VARCHAR)')
  await eachFile(
    'ledger',
    (source) =>
      `INSERT INTO parties SELECT DISTINCT 'party ' || counterparty_address AS key FROM ${source} WHERE key IN (${keys})`,
  )
  return (await database.all('SELECT DISTINCT key FROM parties')).map(({ key }) => String(key))
}
