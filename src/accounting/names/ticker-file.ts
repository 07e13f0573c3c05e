import { ADDRESS } from '../../core/model/address.ts'
import { parseChain } from '../../core/model/chains.ts'
import { NATIVE } from '../../ledger/prices/priced-asset.ts'
import { readRecords, recordError, requireKeptLine } from '../../read/csv-records.ts'

/** A line of the user's file of tickers. */
export type TickerLine = {
  line: number
  /** EVM chain id. */
  chain: string
  /** In lower case; `native` for the coin. */
  contract: string
  /** Empty if the line has none. */
  ticker: string
  /** Names by program, for programs that have a column of their own. */
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
export async function readTickerFile(file: string, programs: readonly string[]): Promise<TickerLine[]> {
  const lines = new Map<string, TickerLine>()
  const tickers = new Map<string, TickerLine>()
  await readRecords(file, REQUIRED_COLUMNS, ({ line, cells: untrimmed }) => {
    requireKeptLine({ file, line })
    const cells = Object.fromEntries(Object.entries(untrimmed).map(([name, text]) => [name, text.trim()]))
    const problem = validateCells(cells, programs)
    if (problem !== undefined) throw recordError({ file, line }, problem)
    const parsed = parseLine(cells, { line, programs })
    const { chain, contract, ticker } = parsed
    if (ticker === '' && programs.every((program) => parsed.nameOf(program) === '')) return
    const [sameContract, sameTicker] = [`${chain}|${contract}`, `${chain}|${ticker.toLowerCase()}`]
    const repeated = lines.get(sameContract) ?? (ticker === '' ? undefined : tickers.get(sameTicker))
    if (repeated !== undefined) throw recordError({ file, line }, describeRepeated(parsed, repeated))
    lines.set(sameContract, parsed)
    tickers.set(sameTicker, parsed)
  })
  return [...lines.values()]
}

type LineProblem = { found: string; expected: string }
type Cells = Readonly<Record<string, string>>

function parseLine(
  { chain = '', contract = '', ticker = '', ...cells }: Cells,
  { line, programs }: { line: number; programs: readonly string[] },
): TickerLine {
  return {
    line,
    chain: parseChain(chain) ?? '',
    contract: contract.toLowerCase(),
    ticker,
    nameOf: (program) => (program !== undefined && programs.includes(program) ? (cells[program] ?? '') : ''),
  }
}

function describeRepeated({ contract, ticker }: TickerLine, repeated: TickerLine): LineProblem {
  return repeated.contract === contract
    ? {
        found: `${contract} again, as in line ${repeated.line}`,
        expected: 'one line per contract of a chain',
      }
    : {
        found: `ticker ${ticker} again, which ${repeated.contract} has in line ${repeated.line}`,
        expected: 'another ticker: the program would treat both tokens as one',
      }
}

function validateCells(cells: Cells, programs: readonly string[]): LineProblem | undefined {
  const { chain = '', contract = '', ticker = '' } = cells
  const known = [...REQUIRED_COLUMNS, ...NOTE_COLUMNS, ...programs]
  const unknown = Object.keys(cells).find((name) => name !== '' && !known.includes(name))
  if (unknown !== undefined) return { found: `column ${unknown}`, expected: `columns ${known.join(', ')}` }
  if (parseChain(chain) === undefined)
    return {
      found: chain === '' ? 'no chain' : `chain ${chain}`,
      expected: 'an id such as 43114 or a name such as avalanche',
    }
  if (contract.toLowerCase() === NATIVE) return validateCoin(cells, programs)
  if (!ADDRESS.test(contract))
    return {
      found: contract === '' ? 'no contract' : `contract ${contract}`,
      expected: '0x and 40 hex digits, or native',
    }
  return validateTicker(ticker) ?? validateProgramNames(cells, programs)
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

function validateProgramNames(cells: Cells, programs: readonly string[]): LineProblem | undefined {
  for (const program of programs) {
    const name = cells[program] ?? ''
    const { pattern, acceptsTickers = true, expected } = PROGRAM_NAMES[program] ?? {}
    const problem = acceptsTickers ? validateTicker(name) : NO_TICKER
    if (name === '' || pattern?.test(name) === true || problem === undefined) continue
    return { found: `${program} ${JSON.stringify(name)}`, expected: expected ?? problem.expected }
  }
  return undefined
}

/** Checks the line of the native coin, which most programs know by its symbol. */
function validateCoin(cells: Cells, programs: readonly string[]): LineProblem | undefined {
  for (const column of ['ticker', ...programs]) {
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
