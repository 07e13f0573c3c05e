import { assetBalanceKey } from '../../core/model/asset.ts'
import { chainIdOf } from '../../core/model/chains.ts'
import type { ManifestJob } from '../../core/model/manifest.ts'
import { parseUtc } from '../../core/model/utc.ts'
import { shiftDecimal } from '../../core/platform/decimal.ts'
import { smallest } from '../../core/platform/extremes.ts'
import { sha256 } from '../../core/platform/sha256.ts'
import type { TextRows } from '../../core/table/index.ts'
import { type AssetLine, decimalsIn, readAssetLines, valueOfLine } from './declared-amounts.ts'
import { amountContextOf, type OpeningContext } from './read-opening.ts'

/** What a file of adjustments contains. */
export type AdjustmentFindings = {
  /** Number of lines that count. */
  rows: number
  /** Number of lines without a value and an amount. */
  unfilled: number
  /** Number of lines of chains that are not the export's. */
  ofOtherChains: number
}

export const NO_ADJUSTMENTS: AdjustmentFindings = { rows: 0, unfilled: 0, ofOtherChains: 0 }

/** The findings of several exports of one file. A line of another chain in all of them is counted once. */
export function sumAdjustments(all: readonly AdjustmentFindings[]): AdjustmentFindings {
  return {
    rows: all.reduce((sum, { rows }) => sum + rows, 0),
    unfilled: all.reduce((sum, { unfilled }) => sum + unfilled, 0),
    ofOtherChains: smallest(
      all.map(({ ofOtherChains }) => ofOtherChains),
      all[0]?.ofOtherChains ?? 0,
    ),
  }
}

/** The source of ledger rows that the user declares. */
export const DECLARED_SOURCE = 'adjustments'

/** What a line is. Received amounts of the types with `true` are income. */
const TYPES: Readonly<Record<string, boolean>> = {
  income: true,
  rebase: true,
  staking: true,
  interest: true,
  airdrop: true,
  genesis: false,
  loss: false,
  correction: false,
  other: false,
}

/**
 * Adds the user's adjustments to the ledger rows of an export, where everything that streams them finds them: movements that
 * no chain data shows, such as the income of a rebasing token. Negative values are outgoing. The rows have the source
 * `adjustments`, an entry type of their own, and the type and the note of the line as their method.
 *
 * @throws USAGE if the file is invalid
 */
export async function addAdjustments(
  file: string | undefined,
  { opened, labels, exports }: OpeningContext,
): Promise<AdjustmentFindings> {
  if (file === undefined) return NO_ADJUSTMENTS
  const context = await amountContextOf({ opened, labels, exports })
  const { job } = opened.manifest
  const rows: TextRows['ledger'][] = []
  let unfilled = 0
  const ofOtherChains = await readAssetLines(file, context, (line) => {
    const value = valueOfLine(line, context)
    if (value === undefined || value === 0n) {
      unfilled += 1
      return
    }
    const label = labels.get(line.wallet) ?? null
    rows.push(toLedgerRow(line, value, decimalsIn(context, line.asset), { ...job, label }))
  })
  opened.addLedgerRows(rows)
  return { rows: rows.length, unfilled, ofOtherChains }
}

function toLedgerRow(
  { line, wallet, asset, cells, expect }: AssetLine,
  value: bigint,
  decimals: number | null,
  {
    chain,
    nativeSymbol = null,
    label,
  }: Pick<ManifestJob, 'chain' | 'nativeSymbol'> & { label: string | null },
): TextRows['ledger'] {
  const { time = '', type = '', note = '' } = cells
  const instant = parseUtc(time) ?? Number.NaN
  expect('time', !Number.isNaN(instant), '2024-03-31 or 2024-03-31T12:00:00Z, in UTC')
  expect('type', Object.hasOwn(TYPES, type), Object.keys(TYPES).join(', '))
  const id = sha256(`adjustment|${time}|${assetBalanceKey(wallet, asset)}|${value}|${type}|${note}|${line}`)
  return {
    block_number: '0',
    block_hash: '',
    block_timestamp: new Date(instant).toISOString(),
    transaction_hash: `adjustment-${id.slice(0, 16)}`,
    transaction_index: null,
    chain_id: chainIdOf(chain),
    entry_id: id.slice(0, 32),
    wallet_address: wallet,
    wallet_label: label,
    entry_index: '0',
    entry_type: TYPES[type] && value > 0n ? 'declared_income' : 'declared',
    direction: value < 0n ? 'out' : 'in',
    counterparty_address: null,
    counterparty_name: null,
    counterparty_is_own: 'false',
    asset_type: asset.type,
    asset_address: asset.address,
    asset_symbol: asset.address === null ? nativeSymbol : null,
    asset_decimals: decimals === null ? null : String(decimals),
    token_id: asset.tokenId,
    value: String(value),
    amount: shiftDecimal(String(value), decimals),
    method_name: `declared ${type}${note === '' ? '' : `: ${note}`}`,
    source: DECLARED_SOURCE,
  }
}
