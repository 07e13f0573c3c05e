import { ADDRESS } from '../core/model/address.ts'
import { chainIdOf, parseChain } from '../core/model/chains.ts'
import { labelsOf } from '../core/model/wallet-sample.ts'
import { quoteLiteral } from '../core/platform/sql.ts'
import type { OpeningOption } from '../ledger/balances/read-opening.ts'
import { NATIVE, readFungibleAssets } from '../ledger/prices/prices.ts'
import { type CsvRecord, readRecords } from '../read/csv-records.ts'
import { type Dataset, openDataset } from '../read/dataset.ts'
import { readTickerFile } from './names/tickers.ts'

/** The user's files about tokens and addresses, and that of opening balances, whose tokens may have no rows. */
export type UserFiles = Partial<Record<'tickers' | 'names' | 'prices', string | undefined>> & {
  opening?: OpeningOption
}

/** Lines of a user's file that apply to nothing in the exports. */
export type UnmatchedLines = {
  file: string
  /** Number of lines about a chain of the exports, or any chain, that matched nothing. */
  count: number
  /** The first of these lines; undefined if there is none. */
  first: { line: number; match: string } | undefined
  /** Lines that name a wallet which has another label in an export of their chain: the label takes precedence. */
  overridden: { line: number; match: string; label: string }[]
  /** Number of lines about other chains. */
  ofOtherChains: number
  /** Number of lines that are filled in. */
  lines: number
}

/** A line of a user's file that is filled in. An export matches it if it has one of the keys. */
type UserLine = { line: number; match: string; chain: string; keys: readonly string[]; name?: string }

const assetKey = (address: string | null) => `asset ${address?.toLowerCase() || NATIVE}`
const symbolKey = (symbol: string) => `symbol ${symbol}`
const partyKey = (address: string) => `party ${address.toLowerCase()}`

/**
 * Finds lines of the user's files that name no asset, wallet or counterparty of whole exports, or a wallet with a label, which are
 * probably mistakes.
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
  const opened = typeof opening !== 'string' ? [] : await readCells(opening, openingLine)
  const parties = names === undefined ? [] : await readCells(names, nameLine)
  const chains = new Map<string, ExportedKeys>()
  for (const output of outputs) {
    const { chain, keys, labels } = await readKeys(output, parties)
    const ofChain = chains.get(chain) ?? {
      keys: new Set(opened.flatMap((line) => line.keys)),
      labels: new Map(),
    }
    chains.set(chain, {
      keys: new Set([...ofChain.keys, ...keys]),
      labels: new Map([...ofChain.labels, ...labels]),
    })
  }
  return files.map(({ file, lines }) => ({ file, ...countUnmatched(lines, chains) }))
}

async function readTickerLines(file: string): Promise<UserLine[]> {
  const lines = await readTickerFile(file)
  return lines.map(({ line, chain, contract, ticker }) => ({
    line,
    chain,
    match: `${ticker} ${contract}`.trim(),
    keys: [assetKey(contract)],
  }))
}

/** Returns what a line is about, from its trimmed cells; undefined if it is not filled in. */
type ParseLine = (
  cells: Readonly<Record<string, string>>,
) => Pick<UserLine, 'match' | 'keys' | 'name'> | undefined

const nameLine: ParseLine = ({ name = '', address = '' }) =>
  name === '' ? undefined : { name, match: `${name} ${address}`, keys: [partyKey(address)] }

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
  const read = ({ line, cells }: CsvRecord) => {
    const parsed = parse(cells)
    if (parsed !== undefined) lines.push({ line, chain: cells.chain ?? '', ...parsed })
  }
  await readRecords(file, [], read, { isTrimmed: true })
  return lines
}

/** The keys of the exports of a chain, and the labels of wallets by key. */
type ExportedKeys = { keys: ReadonlySet<string>; labels: ReadonlyMap<string, string> }

function countUnmatched(lines: readonly UserLine[], chains: ReadonlyMap<string, ExportedKeys>) {
  const applying = lines.flatMap((line) => {
    const ofLine = [...chains].filter(
      ([chain]) => line.chain === '' || parseChain(line.chain, chain) === chain,
    )
    return ofLine.length === 0 ? [] : [{ ...line, exported: ofLine.map(([, ofChain]) => ofChain) }]
  })
  const unmatched = applying.filter(
    ({ keys, exported }) => !exported.some((ofChain) => keys.some((key) => ofChain.keys.has(key))),
  )
  const [first] = unmatched
  return {
    count: unmatched.length,
    first: first && { line: first.line, match: first.match },
    overridden: applying.flatMap(({ line, match, name, keys, exported }) => {
      const labels = exported.flatMap((ofChain) => keys.map((key) => ofChain.labels.get(key)))
      const label = labels.find((text) => text !== undefined && text !== name)
      return label === undefined ? [] : [{ line, match, label }]
    }),
    ofOtherChains: lines.length - applying.length,
    lines: lines.length,
  }
}

/** Reads the keys of an export: its coin and tokens, its wallets, and those of `parties` that are counterparties. */
async function readKeys(output: string, parties: readonly UserLine[]) {
  const opened = await openDataset(output)
  try {
    const { job, coverage } = opened.manifest
    const keys = coverage.map(({ address }) => partyKey(address))
    for (const { address, symbol } of await readFungibleAssets(opened))
      keys.push(assetKey(address), symbolKey(symbol ?? ''))
    const labels = [...labelsOf(coverage)].map(([address, label]) => [partyKey(address), label] as const)
    return { chain: chainIdOf(job.chain), keys: keys.concat(await readParties(opened, parties)), labels }
  } finally {
    await opened.close()
  }
}

async function readParties({ collect, all }: Dataset, parties: readonly UserLine[]): Promise<string[]> {
  if (parties.length === 0) return []
  const keys = parties.flatMap((line) => line.keys.map(quoteLiteral)).join(', ')
  await collect(
    'parties (key VARCHAR)',
    'ledger',
    (source) =>
      `SELECT DISTINCT 'party ' || counterparty_address AS key FROM ${source} WHERE key IN (${keys})`,
  )
  return (await all('SELECT DISTINCT key FROM parties')).map(({ key }) => String(key))
}
