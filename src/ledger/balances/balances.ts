import { ADDRESS } from '../../core/model/address.ts'
import { assetBalanceKey, COIN_DECIMALS } from '../../core/model/asset.ts'
import { wrappedCoinOf } from '../../core/model/chains.ts'
import { ExportError } from '../../core/model/errors.ts'
import { type Manifest, rowsEndOf } from '../../core/model/manifest.ts'
import { optionError } from '../../core/model/option-error.ts'
import { suggest } from '../../core/model/suggest.ts'
import { DAY_MS, isDay, parseUtc } from '../../core/model/utc.ts'
import { knownContracts } from '../../core/model/well-known-tokens.ts'
import { shiftDecimal } from '../../core/platform/decimal.ts'
import { applyNames } from '../../read/address-book.ts'
import { openDataset, requireLedger, uncoveredWalletError } from '../../read/dataset.ts'
import { type AdjustmentFindings, addAdjustments } from './adjustments.ts'
import {
  type BalanceSum,
  BalanceSums,
  balanceColumns,
  compareSums,
  compareTexts,
  SUMMED_COLUMNS,
} from './balance-sums.ts'
import { type CauseContext, EVENTS_MISMATCH, likelyCauses } from './causes.ts'
import { type ChainWallets, type OpeningFindings, type OpeningOption, readOpening } from './read-opening.ts'
import { MISREPORTS_BALANCES, type SpamFlag, spamFlagsOf } from './spam-rules.ts'

/** Options of `balances`. */
export type BalancesOptions = {
  /** The last included block number, UTC day (to its end) or UTC instant. @default all rows are included */
  at?: string | undefined
  /** Addresses or labels of the wallets to sum. @default all wallets */
  wallets?: readonly string[]
  /**
   * CSV file of opening balances, held before the first row; columns as for `compareExpected`, and optionally `chain`.
   * false uses none. @default those that the last `reconcile` learned, and the genesis records in the manifest
   */
  opening?: OpeningOption
  /** CSV file of movements that no chain data shows, which count as rows of their time. @default none */
  adjustments?: string | undefined
  /** All exports that files of opening balances and adjustments are about. @default this one */
  exports?: readonly ChainWallets[] | undefined
  /** CSV file with the columns address and name: labels of wallets that have none in the job. */
  names?: string | undefined
  /** Also return balances that are zero. @default false */
  all?: boolean
}

/** A wallet's balance of one asset, with the columns of CONTRACT section 4. */
export type Balance = {
  wallet_address: string
  wallet_label: string | null
  /** native, erc20, erc721 or erc1155. */
  asset_type: string
  /** null for the native coin. */
  asset_address: string | null
  asset_symbol: string | null
  token_id: string | null
  /** In the asset's smallest unit. */
  value: bigint
  /** null if unknown. */
  asset_decimals: number | null
  /** value / 10^decimals, exact; null if the decimals are unknown. */
  amount: string | null
}

/** A balance that was negative after a transaction. */
export type NegativeBalance = Balance & {
  /** The first such transaction, its block, and the balance after it. */
  transaction_hash: string
  block_number: number
  value_then: bigint
  /** Likely causes, the most likely first. */
  causes: readonly string[]
}

/** A wallet of an export; `label` is null if it has none. */
export type NamedWallet = { address: string; label: string | null }

/** A token that is probably spam or a fake. */
export type FlaggedToken = {
  asset_type: string
  asset_address: string
  asset_symbol: string | null
  flags: SpamFlag[]
}

/** Balances of wallets, and findings that point to an incomplete history or to spam. */
export type Balances = {
  /** Sorted by wallet; within a wallet by asset type (the native coin first), contract and token id. */
  balances: Balance[]
  belowZero: NegativeBalance[]
  /** Sorted by contract. */
  flagged: FlaggedToken[]
  /** The newest included row; undefined if there is none. */
  newest: { block: number; time: string } | undefined
  /** The wallets that were summed, sorted by address. */
  wallets: NamedWallet[]
  opening: OpeningFindings
  adjustments: AdjustmentFindings
  /** The last block up to which every selected wallet was read. */
  lastBlock: number
}

/**
 * Sums the ledger of an export by wallet and asset, with exact integers. Memory grows with the number of balances, not
 * with the number of rows.
 *
 * @param output - the folder of the export
 * @returns the balances, and which of them were negative at any time
 * @throws ExportError with the code USAGE if there is no export, it has no ledger table or no such wallet, or if `at`
 * or the file of opening balances is invalid or names another wallet; VERIFY_FAILED if files of the export are damaged
 */
export async function balances(output: string, options: BalancesOptions = {}): Promise<Balances> {
  const asOf = parseAsOf(options.at)
  const opened = await openDataset(output)
  try {
    requireLedger(opened.manifest, output, 'balances are computed from')
    const { manifest } = await applyNames(options.names, opened.manifest)
    const selected = selectWallets(manifest, options.wallets)
    const covered = new Set(manifest.coverage.map(({ address }) => address))
    const sums = new BalanceSums()
    let newest: Balances['newest']
    const labels = labelsOf(manifest)
    const { exports } = options
    const { amounts, findings: opening } = await readOpening(options.opening, { opened, labels, exports })
    const adjustments = await addAdjustments(options.adjustments, { opened, labels, exports })
    for (const { wallet, asset, value } of amounts) if (selected.has(wallet)) sums.open(wallet, asset, value)
    const columns = ['wallet_label', 'block_timestamp', 'asset_decimals', ...SUMMED_COLUMNS] as const
    for await (const rows of opened.stream('ledger', columns)) {
      for (const row of rows) {
        const wallet = row.wallet_address
        if (!covered.has(wallet)) throw uncoveredWalletError(wallet)
        const position = { block: Number(row.block_number), time: row.block_timestamp }
        if (!selected.has(wallet) || !isIncluded(asOf, position)) continue
        newest = position
        if (!labels.has(wallet)) labels.set(wallet, row.wallet_label)
        sums.add(row)
      }
    }
    const result = toBalances(sums, { labels, manifest, newest, all: options.all ?? false })
    const wallets = [...selected].sort().map((address) => ({ address, label: labels.get(address) ?? null }))
    const lastBlock = lastBlockOf(manifest, selected)
    return { ...result, newest, wallets, opening, adjustments, lastBlock }
  } finally {
    await opened.close()
  }
}

/**
 * The last block up to which every selected wallet was read. Ignores removed wallets, whose coverage no longer grows,
 * unless all selected ones are removed.
 */
export function lastBlockOf(manifest: Manifest, selected: ReadonlySet<string>): number {
  const { coverage } = manifest
  const wallets = coverage.filter(({ address }) => selected.has(address))
  const present = wallets.filter(({ removed }) => removed !== true)
  const ends = (present.length > 0 ? present : wallets).map((wallet) => rowsEndOf(wallet, manifest))
  return ends.reduce((a, b) => Math.min(a, b), Number.POSITIVE_INFINITY) - 1
}

/** The labels of wallets by address, from manifests that have them. */
export function labelsOf({ coverage }: Manifest): Map<string, string | null> {
  return new Map(
    coverage.flatMap(({ address, label }) => (label === undefined ? [] : [[address, label] as const])),
  )
}

type BalanceContext = {
  labels: ReadonlyMap<string, string | null>
  manifest: Manifest
  newest: Balances['newest']
  all: boolean
}

export type ComputedBalances = Pick<Balances, 'balances' | 'belowZero' | 'flagged'>

/** Returns the balances of all rows that were added to `sums`, and what they point to. */
export function toBalances(
  sums: BalanceSums,
  { labels, manifest, newest, all }: BalanceContext,
): ComputedBalances {
  const sorted = sums.finish().sort(compareSums)
  const toBalance = (sum: BalanceSum) => balanceOf(sum, labels.get(sum.wallet) ?? null)
  const firstBlocks = new Map(manifest.coverage.map(({ address, fromBlock }) => [address, fromBlock]))
  const belowZero = sorted.flatMap((sum) => {
    const { firstNegative } = sum
    if (firstNegative === undefined) return []
    const { transaction, block, value } = firstNegative
    const { chain, atomic: hasAtomic = false } = manifest.job
    const context = { chain, hasAtomic, fromBlock: firstBlocks.get(sum.wallet) ?? 0, newest }
    const causes = likelyCauses(sum, { ...context, wraps: wrapsOf(sum, sums, manifest) })
    const atThatTime = { transaction_hash: transaction, block_number: block, value_then: value }
    return [{ ...toBalance(sum), ...atThatTime, causes }]
  })
  return {
    balances: sorted.filter(({ value }) => all || value !== 0n).map(toBalance),
    belowZero,
    flagged: flagTokens(sorted, {
      nativeSymbol: manifest.job.nativeSymbol ?? null,
      trusted: new Set([...knownContracts(manifest.job.chain), ...(manifest.job.wrappedCoins ?? [])]),
      misreporting: misreportingTokens(belowZero, sorted),
    }),
  }
}

/**
 * Finds the tokens whose events do not match the balance of a wallet that never moved them in a transaction of its own. The balances
 * of rebasing tokens grow without events too, so that more of them is sent than received, but their holders move them.
 */
function misreportingTokens(
  belowZero: readonly NegativeBalance[],
  sums: readonly BalanceSum[],
): ReadonlySet<string> {
  const used = new Set(sums.flatMap((sum) => (sum.isUsed ? [assetBalanceKey(sum.wallet, sum)] : [])))
  return new Set(
    belowZero.flatMap(
      ({ causes, wallet_address, asset_type: type, asset_address: address, token_id: tokenId }) => {
        const isUsed = used.has(assetBalanceKey(wallet_address, { type, address, tokenId }))
        return causes.includes(EVENTS_MISMATCH) && address !== null && !isUsed ? [address] : []
      },
    ),
  )
}

/** Whether a token wraps the native coin. */
function wrapsOf({ address }: BalanceSum, sums: BalanceSums, { job }: Manifest): CauseContext['wraps'] {
  if (address === null) return undefined
  if (wrappedCoinOf(job)?.contracts.includes(address)) return job.wraps ?? 'off'
  return sums.isWrapper(address) ? 'probably' : undefined
}

function balanceOf(sum: BalanceSum, label: string | null) {
  const { type, value, decimals } = sum
  const decimalPlaces = type === 'native' ? COIN_DECIMALS : decimals
  return {
    ...balanceColumns(sum, label),
    value,
    asset_decimals: decimalPlaces,
    amount: shiftDecimal(String(value), decimalPlaces),
  }
}

type FlagContext = {
  nativeSymbol: string | null
  /** Contracts that no rule applies to. */
  trusted: ReadonlySet<string>
  misreporting: ReadonlySet<string>
}

/** Lists the tokens that match a spam rule: one entry per contract, for its symbol that matches the most rules. */
function flagTokens(
  sums: readonly BalanceSum[],
  { nativeSymbol, trusted, misreporting }: FlagContext,
): FlaggedToken[] {
  const flagged = new Map<string, FlaggedToken>()
  for (const { type, address, symbol } of sums) {
    if (address === null || trusted.has(address)) continue
    const flags = [
      ...spamFlagsOf(symbol, nativeSymbol),
      ...(misreporting.has(address) ? [MISREPORTS_BALANCES] : []),
    ]
    if (flags.length > (flagged.get(address)?.flags.length ?? 0))
      flagged.set(address, { asset_type: type, asset_address: address, asset_symbol: symbol, flags })
  }
  return [...flagged.values()].sort((a, b) => compareTexts(a.asset_address, b.asset_address))
}

/** The last position in the chain whose rows are included. */
type AsOf = {
  /** Last included block. */
  block: number
  /** Last included time, in the format of the tables: 2023-11-14T22:46:40.000Z. */
  time: string
}

const ALL_ROWS: AsOf = { block: Number.POSITIVE_INFINITY, time: '9999' }

/**
 * Parses the option `--at`: a block number, a UTC day (included to its end) or a UTC instant. Without a text, all rows are
 * included. Throws USAGE if the text is none of these.
 */
function parseAsOf(text: string | undefined): AsOf {
  if (text === undefined) return ALL_ROWS
  if (/^\d{1,15}$/.test(text)) return { ...ALL_ROWS, block: Number(text) }
  const instant = parseUtc(text)
  if (instant === undefined)
    throw optionError('at', {
      found: text,
      expected: 'a block number, a UTC day or a UTC instant',
      fix: 'Write it as 123456, 2024-03-31 (to the end of that day) or 2024-03-31T12:00:00Z.',
    })
  const time = new Date(isDay(text) ? instant + DAY_MS - 1 : instant)
  return { ...ALL_ROWS, time: time.toISOString() }
}

function isIncluded({ block, time }: AsOf, row: { block: number; time: string }): boolean {
  return row.block <= block && row.time <= time
}

/** The addresses of the wallets with these addresses or labels; all wallets if there are none. Throws USAGE. */
export function selectWallets(
  { coverage }: Pick<Manifest, 'coverage'>,
  names: readonly string[] | undefined,
): ReadonlySet<string> {
  if (names === undefined || names.length === 0) return new Set(coverage.map(({ address }) => address))
  return new Set(names.flatMap((name) => findWallets(coverage, name)))
}

function findWallets(coverage: Manifest['coverage'], name: string): string[] {
  const matches = coverage.filter(({ address, label }) => address === name.toLowerCase() || label === name)
  if (matches.length > 0) return matches.map(({ address }) => address)
  const labels = coverage.flatMap(({ label }) => label ?? [])
  const suggestion = suggest(name, ADDRESS.test(name) ? [] : labels)
  throw new ExportError('USAGE', `the export has no wallet ${name}`, {
    fix:
      suggestion === undefined
        ? 'Give the address or the label of a wallet, as in the job file.'
        : `Did you mean ${suggestion}?`,
  })
}
