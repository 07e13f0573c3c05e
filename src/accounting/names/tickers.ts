import { ADDRESS } from '../../core/model/address.ts'
import { chainIdOf, chainOf, parseChain } from '../../core/model/chains.ts'
import type { Manifest } from '../../core/model/manifest.ts'
import { wellKnownTokens } from '../../core/model/well-known-tokens.ts'
import { NATIVE } from '../../ledger/prices/prices.ts'
import { type CsvRecord, readRecords, recordError } from '../../read/csv-records.ts'
import { FORMAT_NAMES, usesIdentifiers } from '../formats.ts'
import type { ConvertOptions } from '../options.ts'

/** The name of a token that needs no digits of its contract. */
export type TokenName = {
  /** The ticker or, for programs with identifiers of their own, the identifier. */
  name: string
  /** Whether the user's file gives it. */
  isUsers: boolean
  /**
   * The decimals of a well-known token. If the export has others, for lack of metadata, its amounts are not those of the
   * token, so they must not appear under its ticker.
   */
  decimals?: number | undefined
}

/**
 * Names by contract in lower case. Each stands for one contract of the chain. In formats with identifiers, the native coin
 * (`native`) can have one too.
 */
export type TokenNames = ReadonlyMap<string, TokenName>

/**
 * Returns the names of tokens on the chain of an export in files for the program `to`: those of the user's file, and
 * tickers of well-known tokens. Throws USAGE, with the line, if the file is invalid or gives a token the name of
 * another one or of the native coin.
 */
export async function readTickers(
  { tickers: file, builtinTickers = true }: Partial<ConvertOptions>,
  job: Pick<Manifest['job'], 'chain' | 'nativeSymbol'>,
  to: string | undefined,
): Promise<TokenNames> {
  const chain = chainIdOf(job.chain)
  // Tickers do not apply to formats that name tokens by identifiers of their own.
  const hasIdentifiers = usesIdentifiers(to)
  const names = new Map<string, NameInFile>()
  if (builtinTickers && !hasIdentifiers)
    for (const [contract, { ticker, decimals }] of wellKnownTokens(chain))
      names.set(contract, { name: ticker, isUsers: false, decimals })
  if (file === undefined) return names
  for (const { line, contract, ticker, nameOf, chain: lineChain } of await readTickerFile(file)) {
    const name = nameOf(to) || (hasIdentifiers ? '' : ticker)
    if (lineChain === chain && name !== '') names.set(contract, { name, isUsers: true, line })
  }
  rejectSharedNames(names, { file, coin: job.nativeSymbol ?? chainOf(chain)?.symbol })
  return names
}

type NameInFile = TokenName & { line?: number }

/** Most programs treat names that differ only in case as one asset. */
function rejectSharedNames(
  names: ReadonlyMap<string, NameInFile>,
  { file, coin }: { file: string; coin: string | undefined },
): void {
  const owners = new Map<string, NamedContract>()
  for (const [contract, { name, line }] of names) {
    const key = name.toLowerCase()
    const owner = owners.get(key)
    const at = line ?? owner?.line
    if (at !== undefined && contract !== NATIVE && key === coin?.toLowerCase())
      throw recordError(
        file,
        at,
        `${name}, the native coin`,
        'another name: the program would treat both as one',
      )
    if (at !== undefined && owner !== undefined)
      throw sharedNameError(file, at, name, [owner, { contract, line }])
    owners.set(key, { contract, line })
  }
}

type NamedContract = { contract: string; line: number | undefined }

/** The error for two contracts with one name, of which the file names one or both. */
function sharedNameError(
  file: string,
  line: number,
  name: string,
  [first, second]: [NamedContract, NamedContract],
) {
  const [named, other] = second.line === undefined ? [first, second] : [second, first]
  const kind = other.line === undefined ? 'the well-known token ' : ''
  return recordError(
    file,
    line,
    `${name} for ${named.contract}, which is the name of ${kind}${other.contract}`,
    `another name, or a line with another name for ${other.contract}: the program would treat both as one token`,
  )
}

/** A line of the user's file of tickers. */
type TickerLine = {
  line: number
  /** EVM chain id. */
  chain: string
  /** In lower case; `native` for the coin. */
  contract: string
  /** Empty if the line has none. */
  ticker: string
  /** The name for a program that has a column of its own; empty if there is none. */
  nameOf: (program: string | undefined) => string
}

/** Columns that are for the user; no format contains them. */
const NOTE_COLUMNS = ['name', 'coingecko', 'movements', 'volume']

const REQUIRED_COLUMNS = ['chain', 'contract', 'ticker'] as const

/** Letters and digits, with dots, underscores and hyphens inside. */
const TICKER = /^[A-Za-z0-9]([A-Za-z0-9._-]{0,18}[A-Za-z0-9])?$/

/** Names of tokens without a ticker: symbol and contract digits, or a placeholder. */
const GENERATED_NAME = /-[0-9a-f]{8}|^(NULL|NFT)\d*$/i

type ProgramNames = {
  pattern: RegExp
  /** Further names that native coins may have. @default they have no line in the file */
  coinPattern?: RegExp
  acceptsTickers: boolean
  expected: string
}

/** Columns of programs that have identifiers of their own; other columns contain tickers. */
const PROGRAM_NAMES: Readonly<Record<string, ProgramNames>> = {
  koinly: {
    pattern: /^ID:[1-9]\d{0,8}$/,
    acceptsTickers: true,
    expected: 'a ticker, or an id of Koinly such as ID:1234',
  },
  rotki: {
    pattern: /^eip155:[1-9]\d*\/erc20:0x[0-9a-fA-F]{40}$/,
    // Such as AVAX, or the UUID of an asset that the user added to rotki (serialization/schemas.py).
    coinPattern: /^[A-Za-z0-9][A-Za-z0-9._-]{0,35}$/,
    acceptsTickers: false,
    expected: 'an identifier such as eip155:1/erc20:0x…',
  },
}

/**
 * Reads a CSV file of tickers. Lines without a ticker and without names for programs are skipped. Throws USAGE, with
 * the line, if a cell is invalid, if a column is unknown, or if a contract or ticker of a chain is repeated.
 */
export async function readTickerFile(file: string): Promise<TickerLine[]> {
  const lines = new Map<string, TickerLine>()
  const tickers = new Map<string, TickerLine>()
  const read = (record: CsvRecord) => {
    const { line, cells } = record
    const problem = validateCells(cells)
    if (problem !== undefined) throw record.error(problem.found, problem.expected)
    const { chain = '', contract = '', ticker = '', ...others } = cells
    const parsed: TickerLine = {
      line,
      chain: parseChain(chain) ?? '',
      contract: contract.toLowerCase(),
      ticker,
      nameOf: (program = '') => (FORMAT_NAMES.includes(program) ? (others[program] ?? '') : ''),
    }
    if (ticker === '' && FORMAT_NAMES.every((program) => parsed.nameOf(program) === '')) return
    const sameContract = `${parsed.chain}|${parsed.contract}`
    const sameTicker = `${parsed.chain}|${ticker.toLowerCase()}`
    const repeated = lines.get(sameContract) ?? (ticker === '' ? undefined : tickers.get(sameTicker))
    if (repeated !== undefined) throw repetitionError(record, parsed, repeated)
    lines.set(sameContract, parsed)
    tickers.set(sameTicker, parsed)
  }
  const columns = [...REQUIRED_COLUMNS, ...NOTE_COLUMNS, ...FORMAT_NAMES]
  await readRecords(file, REQUIRED_COLUMNS, read, { columns, isTrimmed: true, isKept: true })
  return [...lines.values()]
}

type LineProblem = { found: string; expected: string }
type Cells = Readonly<Record<string, string>>

const repetitionError = ({ error }: CsvRecord, { contract, ticker }: TickerLine, repeated: TickerLine) =>
  repeated.contract === contract
    ? error(`${contract} again, as in line ${repeated.line}`, 'one line per contract of a chain')
    : error(
        `ticker ${ticker} again, which ${repeated.contract} has in line ${repeated.line}`,
        'another ticker: the program would treat both tokens as one',
      )

function validateCells(cells: Cells): LineProblem | undefined {
  const { chain = '', contract = '', ticker = '' } = cells
  if (parseChain(chain) === undefined)
    return {
      found: chain === '' ? 'no chain' : `chain ${chain}`,
      expected: 'an id such as 43114 or a name such as avalanche',
    }
  if (contract.toLowerCase() === NATIVE) return validateCoin(cells)
  if (!ADDRESS.test(contract))
    return {
      found: contract === '' ? 'no contract' : `contract ${contract}`,
      expected: '0x and 40 hex digits, or native',
    }
  return validateTicker(ticker) ?? validateProgramNames(cells)
}

function validateTicker(ticker: string): LineProblem | undefined {
  if (ticker === '') return undefined
  const found = `ticker ${JSON.stringify(ticker)}`
  if (!TICKER.test(ticker))
    return { found, expected: 'at most 20 letters and digits, with . _ - inside, such as USDC.e' }
  if (!GENERATED_NAME.test(ticker)) return undefined
  return {
    found,
    expected: 'no NULL1 or NFT1, and no hyphen with 8 hex digits: tokens without a ticker have such names',
  }
}

function validateProgramNames(cells: Cells): LineProblem | undefined {
  for (const program of FORMAT_NAMES) {
    const name = cells[program] ?? ''
    const { pattern, acceptsTickers = true, expected } = PROGRAM_NAMES[program] ?? {}
    const problem = acceptsTickers ? validateTicker(name) : NO_TICKER
    if (name === '' || pattern?.test(name) === true || problem === undefined) continue
    return { found: `${program} ${JSON.stringify(name)}`, expected: expected ?? problem.expected }
  }
  return undefined
}

/** Checks the line of the native coin, which most programs know by its symbol. */
function validateCoin(cells: Cells): LineProblem | undefined {
  for (const column of ['ticker', ...FORMAT_NAMES]) {
    const name = cells[column] ?? ''
    const { pattern, coinPattern, expected = '' } = PROGRAM_NAMES[column] ?? {}
    if (name === '' || coinPattern?.test(name) === true) continue
    if (coinPattern !== undefined && pattern?.test(name) === true) continue
    return {
      found: `${column} ${JSON.stringify(name)} for native`,
      expected: coinPattern === undefined ? 'none: the program gets the symbol of the coin' : expected,
    }
  }
  return undefined
}

const NO_TICKER = { expected: 'an identifier' }
