import { chainIdOf, chainOf } from '../../core/model/chains.ts'
import type { Manifest } from '../../core/model/manifest.ts'
import { type WellKnownToken, wellKnownTokens } from '../../core/model/well-known-tokens.ts'
import { NATIVE } from '../../ledger/prices/priced-asset.ts'
import { recordError } from '../../read/csv-records.ts'
import type { ConvertOptions } from '../options.ts'
import { readTickerFile } from './ticker-file.ts'

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

type TickerContext = {
  job: Pick<Manifest['job'], 'chain' | 'nativeSymbol'>
  /** The names of all formats, which may be columns of the file. */
  programs: readonly string[]
  /** Whether a format names tokens by identifiers of its own, to which tickers do not apply. */
  usesIdentifiers: (to: string | undefined) => boolean
}

/**
 * Returns the names of tokens on the chain of an export in files for the program `to`: those of the user's file, and
 * tickers of well-known tokens. Throws USAGE, with the line, if the file is invalid or gives a token the name of
 * another one or of the native coin.
 */
export async function readTickers(
  { to, tickers: file, builtinTickers = true }: Partial<ConvertOptions>,
  { job, programs, usesIdentifiers }: TickerContext,
): Promise<TokenNames> {
  const chain = chainIdOf(job.chain)
  const hasIdentifiers = usesIdentifiers(to)
  const builtin = builtinTickers && !hasIdentifiers ? wellKnownTokens(chain) : NO_TOKENS
  const names = new Map<string, TokenName & { line?: number }>(
    [...builtin].map(([contract, { ticker, decimals }]) => [
      contract,
      { name: ticker, isUsers: false, decimals },
    ]),
  )
  if (file === undefined) return names
  for (const { line, contract, ticker, nameOf, chain: lineChain } of await readTickerFile(file, programs)) {
    const name = nameOf(to) || (hasIdentifiers ? '' : ticker)
    if (lineChain === chain && name !== '') names.set(contract, { name, isUsers: true, line })
  }
  rejectSharedNames(names, { file, coin: job.nativeSymbol ?? chainOf(chain)?.symbol })
  return names
}

const NO_TOKENS: ReadonlyMap<string, WellKnownToken> = new Map()

/** Most programs treat names that differ only in case as one asset. */
function rejectSharedNames(
  names: ReadonlyMap<string, TokenName & { line?: number }>,
  { file, coin }: { file: string; coin: string | undefined },
): void {
  const owners = new Map<string, NamedContract>()
  for (const [contract, { name, line }] of names) {
    const key = name.toLowerCase()
    const owner = owners.get(key)
    const at = line ?? owner?.line
    if (at !== undefined && contract !== NATIVE && key === coin?.toLowerCase())
      throw recordError(
        { file, line: at },
        { found: `${name}, the native coin`, expected: 'another name: the program would treat both as one' },
      )
    if (at !== undefined && owner !== undefined)
      throw recordError({ file, line: at }, describeSharedName(name, [owner, { contract, line }]))
    owners.set(key, { contract, line })
  }
}

type NamedContract = { contract: string; line: number | undefined }

/** Describes two contracts with one name, of which the file names one or both. */
function describeSharedName(name: string, [first, second]: [NamedContract, NamedContract]) {
  const [named, other] = second.line === undefined ? [first, second] : [second, first]
  const kind = other.line === undefined ? 'the well-known token ' : ''
  return {
    found: `${name} for ${named.contract}, which is the name of ${kind}${other.contract}`,
    expected: `another name, or a line with another name for ${other.contract}: the program would treat both as one token`,
  }
}
