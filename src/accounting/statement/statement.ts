import { chainIdOf } from '../../core/model/chains.ts'
import { ExportError } from '../../core/model/errors.ts'
import { optionError } from '../../core/model/option-error.ts'
import type { AdjustmentFindings } from '../../ledger/balances/adjustments.ts'
import { lastBlockOf, type NamedWallet, type NegativeBalance } from '../../ledger/balances/balances.ts'
import type { OpeningFindings } from '../../ledger/balances/read-opening.ts'
import { requireChainOfEachPrice } from '../../ledger/prices/prices.ts'
import {
  type Dataset,
  openDataset,
  requireLedger,
  requireManifest,
  uncoveredWalletError,
} from '../../read/dataset.ts'
import { readTickers } from '../names/tickers.ts'
import { type PriceNeeded, priceKey, sortedPrices } from '../needed.ts'
import { instantBefore, type Period, parsePeriod, readTimeRange, type TimeRange } from '../options.ts'
import { readSpam, requireNewWallets } from '../sources.ts'
import { type MovementRow, ownWalletsOf } from '../transactions.ts'
import {
  type ClosedPeriod,
  type Newest,
  openLedgerSums,
  readSelectedRows,
  type StatementLine,
  type SummedExport,
  type SumOptions,
} from './ledger-sums.ts'

/** Options of `statement`: `year`, or `from` and `until`. @default the year of all movements, if they are of one year */
export type StatementOptions = PeriodOptions &
  SumOptions & {
    /** Leave out the lines of tokens that are probably spam or fakes. @default false */
    excludeSpam?: boolean | undefined
  }

/** An export of a statement, and findings about it. */
export type StatementExport = {
  output: string
  chain: string
  newest: Newest
  /** The last block up to which every selected wallet was read. */
  lastBlock: number
  wallets: NamedWallet[]
  /** Balances that were negative up to the end of the period. */
  belowZero: NegativeBalance[]
  opening: OpeningFindings
  adjustments: AdjustmentFindings
  /** Times of the first and last movement of the selected wallets. Set only if the period contains none of them. */
  ledgerTimeRange: TimeRange | undefined
}

/** The statement of one or several exports for a period. */
export type Statement = {
  /** First and last included instant, in the format of the tables. */
  period: { from: string; until: string }
  exports: StatementExport[]
  /** By export, wallet and asset, as balances are sorted. Without assets that had no balance and no movement. */
  lines: StatementLine[]
  /** Number of lines of spam tokens that were left out. */
  spamLines: number
  /** The currency of the values; undefined if there are no prices. */
  currency: string | undefined
  /** Prices that are missing, sorted by day, chain and asset. */
  pricesNeeded: PriceNeeded[]
}

/**
 * States, for each wallet and asset, the balances before and after a period and what moved in between, with exact
 * integers. Memory grows with the number of wallets and assets, not with the number of rows.
 *
 * @param outputs - the folders of the exports, usually one per chain
 * @throws ExportError with the code USAGE if the period is invalid, a wallet is in two exports of one chain, the
 * exports are of several chains and a price has no chain, and as `balances` does
 * @example
 * ```ts
 * const { lines } = await statement(['output/mine'], { year: '2024' })
 * ```
 */
export async function statement(
  outputs: readonly [string, ...string[]],
  options: StatementOptions,
): Promise<Statement> {
  const period = parseStatementPeriod(options) ?? periodOf(Number(await onlyYear(outputs)))
  const all = outputs.length > 1 ? await readWallets(outputs) : []
  if (options.prices !== undefined && all.length > 1)
    await requireChainOfEachPrice(
      options.prices,
      all.map(({ chain }) => chain),
    )
  const spam = options.excludeSpam ? await readSpamOfChains(outputs) : undefined
  const parts: Part[] = []
  for (const [at, output] of outputs.entries()) {
    const ownWallets = all[at] && ownWalletsOf(all[at].chain, all)
    const part = await stateExport({ output, period, options, ownWallets, exports: all[at] && all })
    const exports = parts.map(({ about }) => about)
    requireNewWallets(part.about, exports, 'leave out one of the exports, or use --wallet')
    parts.push(part)
  }
  const isSpam = (chain: string, contract: string | null) =>
    spam?.get(chainIdOf(chain))?.has(contract ?? '') ?? false
  const stated = parts.flatMap(({ lines }) => lines)
  const lines = stated.filter(({ chain_id, asset_address }) => !isSpam(chain_id, asset_address))
  const needed = parts.flatMap(({ pricesNeeded }) => pricesNeeded)
  return {
    period: { from: period.from, until: instantBefore(period.to) },
    exports: parts.map(({ about }) => about),
    lines,
    spamLines: stated.length - lines.length,
    currency: parts[0]?.currency,
    pricesNeeded: sortedPrices(
      new Map(
        needed.flatMap((price) => (isSpam(price.chain, price.asset) ? [] : [[priceKey(price), price]])),
      ),
    ),
  }
}

/** The chain and the wallets of each export. */
async function readWallets(outputs: readonly string[]) {
  const manifests = await Promise.all(outputs.map(requireManifest))
  return manifests.map(({ job, coverage }) => ({ chain: chainIdOf(job.chain), coverage }))
}

/** The spam tokens of each chain of the exports. */
async function readSpamOfChains(
  outputs: readonly string[],
): Promise<ReadonlyMap<string, ReadonlyMap<string, string>>> {
  const sources = await Promise.all(
    outputs.map(async (output) => {
      const { job } = await requireManifest(output)
      return { output, chain: chainIdOf(job.chain), trusted: await readTickers({}, job, undefined) }
    }),
  )
  const spam = new Map<string, ReadonlyMap<string, string>>()
  for (const chain of new Set(sources.map((source) => source.chain)))
    spam.set(chain, await readSpam(sources.filter((source) => source.chain === chain)))
  return spam
}

/** The part of a statement about one export. */
type Part = Pick<Statement, 'lines' | 'currency' | 'pricesNeeded'> & { about: StatementExport }

async function stateExport(summed: SummedExport): Promise<Part> {
  const { output, period } = summed
  const opened = await openDataset(output)
  try {
    const sums = await openLedgerSums(opened, summed)
    const { labels, selected, valuation, opening, adjustments } = sums.ledger
    let range: TimeRange | undefined
    let isEmpty = true
    for await (const rows of readSelectedRows(opened, selected))
      for (const row of rows) {
        const { block_timestamp: time } = row
        range = { first: range?.first ?? time, last: time }
        if (time >= period.from && time < period.to) isEmpty = false
        if (time < period.to) sums.add(row)
      }
    const { lines, chain, belowZero } = sums.close()
    const about = {
      output,
      chain,
      newest: sums.newest,
      belowZero,
      wallets: [...selected].sort().map((address) => ({ address, label: labels.get(address) ?? null })),
      lastBlock: lastBlockOf(opened.manifest, selected),
      opening: opening.findings,
      adjustments,
      ledgerTimeRange: isEmpty ? range : undefined,
    }
    return { about, lines, currency: valuation.currency, pricesNeeded: valuation.needed() }
  } finally {
    await opened.close()
  }
}

/** The statement of a UTC year. */
export type YearStatement = ClosedPeriod & { year: string; currency: string | undefined }

type YearOptions = Pick<SumOptions, 'opening' | 'prices'> &
  Omit<SummedExport, 'options' | 'period'> & {
    /** The first year. The ledger has no rows of earlier years. */
    first: number
    /** Called with the statement of each year from the first one on, as `statement` returns it for that year. */
    onYear: (statement: YearStatement) => void
  }

/** Builds the statements of the UTC years of an export from its rows. */
export type YearStatements = {
  /** Adds the next row in chain order. Throws VERIFY_FAILED if the export does not cover its wallet. */
  add(row: MovementRow): void
  /** Closes all years up to the last one. Call it after the last row. */
  close(last: number): void
}

/**
 * Opens the statements of all years of an export. Memory grows with the number of wallets and assets, not with the number
 * of rows.
 *
 * @throws ExportError as `statement` does
 */
export async function openYearStatements(
  opened: Dataset,
  { first, onYear, opening, prices, ...summed }: YearOptions,
): Promise<YearStatements> {
  let year = first
  let period = periodOf(year)
  const sums = await openLedgerSums(opened, { ...summed, options: { opening, prices }, period })
  const { selected, valuation } = sums.ledger
  const close = () => onYear({ ...sums.close(), year: String(year), currency: valuation.currency })
  const startYear = (next: number) => {
    while (year < next) {
      close()
      year += 1
      period = periodOf(year)
      sums.startPeriod(period)
    }
  }
  return {
    add: (row) => {
      const { wallet_address: wallet, block_timestamp: time } = row
      if (!selected.has(wallet)) throw uncoveredWalletError(wallet)
      if (time >= period.to) startYear(Number(time.slice(0, 4)))
      sums.add(row)
    },
    close: (last) => {
      startYear(last)
      close()
    },
  }
}

const periodOf = (year: number): Period => parsePeriod(`${year}-01-01`, `${year}-12-31`)

/** The period of a statement: a UTC year, or two UTC days or instants. */
type PeriodOptions = {
  year?: string | undefined
  from?: string | undefined
  until?: string | undefined
}

/**
 * Parses the options; undefined if there are none. A day as `until` is included to its end. Throws USAGE if they do not name one
 * period.
 */
export function parseStatementPeriod({ year, from, until }: PeriodOptions): Period | undefined {
  if (year === undefined && from === undefined && until === undefined) return undefined
  if (year !== undefined && (from !== undefined || until !== undefined))
    throw new ExportError('USAGE', '--year and --from or --until name two periods', { fix: PERIOD_FIX })
  if (year !== undefined) {
    const days = daysOfYear(year)
    return parsePeriod(days.from, days.until)
  }
  if (from === undefined || until === undefined)
    throw new ExportError('USAGE', `${from === undefined ? '--from' : '--until'} or --year is missing`, {
      fix: PERIOD_FIX,
    })
  return parsePeriod(from, until)
}

/** The UTC year of all movements. Throws USAGE if they are of several years, or if there are none. */
export async function onlyYear(outputs: readonly string[]): Promise<string> {
  const { first, last } = await readYears(outputs)
  if (first !== undefined && first === last) return first
  const found =
    first === undefined ? 'the export has no movement' : `the movements are of ${first} to ${last}`
  throw new ExportError('USAGE', `--from or --year is missing: ${found}`, { fix: PERIOD_FIX })
}

/** The first and the last UTC year of movements; undefined if there are none. */
export async function readYears(
  outputs: readonly string[],
): Promise<{ first: string | undefined; last: string | undefined }> {
  const years: string[] = []
  for (const output of outputs) {
    const opened = await openDataset(output)
    try {
      requireLedger(opened.manifest, output, 'statements are made from')
      const range = await readTimeRange(opened)
      if (range !== undefined) years.push(range.first.slice(0, 4), range.last.slice(0, 4))
    } finally {
      await opened.close()
    }
  }
  const sorted = years.sort()
  return { first: sorted[0], last: sorted.at(-1) }
}

const PERIOD_FIX = 'Give --year 2024, or both --from 2024-04-01 and --until 2025-03-31 (included).'

/** Returns the first and the last day of a UTC year. Throws USAGE if it is none. */
export function daysOfYear(year: string): { from: string; until: string } {
  if (/^(19[7-9]|[2-8]\d\d)\d$/.test(year)) return { from: `${year}-01-01`, until: `${year}-12-31` }
  throw optionError('year', {
    found: year,
    expected: 'a year from 1970 to 8999',
    fix: 'Write it as 2024. For another period, use --from and --until.',
  })
}
