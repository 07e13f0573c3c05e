import { chainIdOf } from '../../core/model/chains.ts'
import { isRebasing } from '../../core/model/rebasing-tokens.ts'
import { limitConcurrency } from '../../core/platform/limit-concurrency.ts'
import { DECLARED_SOURCE } from '../../ledger/balances/adjustments.ts'
import type { Dataset } from '../../read/dataset.ts'
import type { BalanceReader, ServiceBalances } from '../../sources/balances.ts'
import { readableCoverage } from './ledger-sums.ts'
import type { LearnedWallet, ReconciledBalance } from './verdict.ts'

export const REBASE_PERIODS = ['year', 'month', 'day'] as const
export type RebasePeriod = (typeof REBASE_PERIODS)[number]

/** What a balance of a rebasing token grew by without an event, since the line before; negative if it shrank. */
export type RebaseIncome = {
  wallet: string
  contract: string
  /** In the format of the tables. */
  time: string
  value: bigint
  /** The block whose balance shows it. */
  block: number
}

/** A block after which the balance of a token is asked for, with the sum of the ledger up to it. */
type Point = { block: number; time: string; sum: bigint }

/** A token of a wallet: what it had before its first row, and its points in chain order. */
type History = {
  wallet: string
  contract: string
  opening: bigint
  /** Exclusive. */
  toBlock: number
  sum: bigint
  /** The block of its newest row, and the sum before it; -1 before the first row. */
  block: number
  sumBefore: bigint
  points: Point[]
}

export type RebaseOptions = {
  period: RebasePeriod
  reader: BalanceReader
  rows: readonly ReconciledBalance[]
  learned: readonly LearnedWallet[]
  /** Receives the number of requests before the first one. */
  onStart: (requests: number) => void
}

/**
 * Divides the differences of rebasing tokens by the balances that the service reports at the end of each period, and before each
 * transaction that sends the token, so that no balance is below zero. The block at the end of a period is interpolated between
 * the rows of the export before and after it. Returns none for a wallet whose earlier balances the service does not report.
 */
export async function divideRebasing(output: Dataset, options: RebaseOptions): Promise<RebaseIncome[]> {
  const { reader, onStart } = options
  const histories = historiesOf(output, options)
  if (histories.length === 0) return []
  await addPoints(output, histories, options.period)
  const asked = new Map<string, Question>()
  for (const { wallet, contract, points } of histories)
    for (const { block } of points) {
      const question = asked.get(placeOf(wallet, block)) ?? { wallet, block, contracts: new Set() }
      asked.set(placeOf(wallet, block), question)
      question.contracts.add(contract)
    }
  onStart(asked.size)
  const limit = limitConcurrency(REQUESTS_AT_A_TIME)
  const stated = new Map<string, ServiceBalances | undefined>()
  const ask = async ({ wallet, block, contracts }: Question) => {
    const balances = await reader.read('erc20', { wallet, block, contracts: [...contracts] })
    stated.set(placeOf(wallet, block), balances)
  }
  await Promise.all([...asked.values()].map((question) => limit(() => ask(question))))
  return histories.flatMap((history) => incomeOf(history, stated))
}

type Question = { wallet: string; block: number; contracts: Set<string> }
const REQUESTS_AT_A_TIME = 64
const placeOf = (wallet: string, block: number) => `${wallet} ${block}`

/** The rebasing tokens whose balances differ, if the service reports earlier balances. */
function historiesOf(output: Dataset, { reader, rows, learned }: RebaseOptions): History[] {
  const chain = chainIdOf(output.manifest.job.chain)
  const ends = new Map(readableCoverage(output.manifest).map(({ address, toBlock }) => [address, toBlock]))
  if (reader.latestOnly.has('erc20')) return []
  return rows.flatMap(({ wallet_address: wallet, asset_address: contract, asset_type, difference }) => {
    if (difference === 0n || asset_type !== 'erc20' || !isRebasing(chain, contract)) return []
    const openings = learned.find(({ address }) => address === wallet)?.opening ?? []
    const held = openings.flatMap((opening) => opening.held).find(({ address }) => address === contract)
    const opening = held?.value ?? 0n
    const toBlock = ends.get(wallet) ?? 0
    return [
      { wallet, contract: contract ?? '', opening, toBlock, sum: 0n, block: -1, sumBefore: 0n, points: [] },
    ]
  })
}

const COLUMNS = [
  'wallet_address',
  'asset_type',
  'asset_address',
  'value',
  'block_number',
  'block_timestamp',
  'source',
] as const

async function addPoints(
  output: Dataset,
  histories: readonly History[],
  period: RebasePeriod,
): Promise<void> {
  const byKey = new Map(histories.map((history) => [`${history.wallet} ${history.contract}`, history]))
  let before = { block: 0, ms: Number.POSITIVE_INFINITY }
  for await (const rows of output.stream('ledger', COLUMNS))
    for (const row of rows) {
      const at = { block: Number(row.block_number), ms: Date.parse(row.block_timestamp) }
      for (let end = endOf(period, before.ms); end <= at.ms; end = endOf(period, end))
        addPeriodEnd(histories, interpolate(before, at, end), end)
      before = at
      const history =
        row.asset_type === 'erc20' ? byKey.get(`${row.wallet_address} ${row.asset_address}`) : undefined
      if (history === undefined) continue
      if (history.block !== at.block) history.sumBefore = history.sum
      const isSent = row.value.startsWith('-') && row.source !== DECLARED_SOURCE
      const isFirst = history.points.at(-1)?.block !== at.block - 1
      if (isSent && isFirst && at.block < history.toBlock)
        history.points.push({
          block: at.block - 1,
          time: timeText(at.ms - 1_000),
          sum: history.sumBefore,
        })
      history.block = at.block
      history.sum += BigInt(row.value)
    }
}

/** Adds the end of a period to all tokens that have rows before it. */
function addPeriodEnd(histories: readonly History[], block: number, end: number): void {
  for (const history of histories)
    if (history.block >= 0 && block < history.toBlock)
      history.points.push({ block, time: timeText(end - 1_000), sum: history.sum })
}

type Place = { block: number; ms: number }

/** The last block before an instant, if blocks between two rows take the same time. */
function interpolate(before: Place, after: Place, ms: number): number {
  const share = (ms - 1 - before.ms) / (after.ms - before.ms)
  const block = before.block + Math.floor(share * (after.block - before.block))
  return Math.max(before.block, Math.min(block, after.block - 1))
}

/** The start of the UTC period that follows an instant. */
function endOf(period: RebasePeriod, ms: number): number {
  const date = new Date(ms)
  const [year, month, day] = [date.getUTCFullYear(), date.getUTCMonth(), date.getUTCDate()]
  if (period === 'year') return Date.UTC(year + 1, 0, 1)
  return period === 'month' ? Date.UTC(year, month + 1, 1) : Date.UTC(year, month, day + 1)
}

const timeText = (ms: number) => new Date(ms).toISOString()

function incomeOf(
  { wallet, contract, opening, points }: History,
  stated: ReadonlyMap<string, ServiceBalances | undefined>,
): RebaseIncome[] {
  const income: RebaseIncome[] = []
  let grown = 0n
  for (const { block, time, sum } of points) {
    const balances = stated.get(placeOf(wallet, block))
    if (balances === undefined) return []
    const held = [...balances.values()].find(({ address }) => address === contract)?.value ?? 0n
    const value = held - opening - sum - grown
    if (value === 0n) continue
    grown += value
    income.push({ wallet, contract, time, value, block })
  }
  return income
}
