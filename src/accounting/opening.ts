import { COIN_DECIMALS, isNft } from '../core/model/asset.ts'
import { chainOf } from '../core/model/chains.ts'
import { ExportError } from '../core/model/errors.ts'
import { UNKNOWN_INDEX } from '../core/model/item-key.ts'
import { sha256 } from '../core/platform/sha256.ts'
import { labelsOf } from '../ledger/balances/balances.ts'
import {
  type ChainWallets,
  NO_FINDINGS,
  type OpeningFindings,
  type OpeningOption,
  readOpening,
} from '../ledger/balances/read-opening.ts'
import type { Dataset } from '../read/dataset.ts'
import { type Asset, assetKey, type Movement } from './movement.ts'
import { type Contracts, withContract } from './names/contracts.ts'
import type { Period } from './period.ts'

/** The method of opening balances, by which labels can assign a type to them. */
const METHOD = 'opening balance'

/** Opening balances as movements, by wallet. */
type OpeningMovements = { movements: Movement[]; findings: OpeningFindings }

type OpenedExport = {
  opened: Dataset
  contracts: Contracts
  period: Period
  /** All converted exports. */
  exports: readonly ChainWallets[]
}

/**
 * Reads the opening balances of an export, and returns them as movements of the second before its first row. They
 * belong to the period that contains this row, so that of several converted periods only one has them. Throws USAGE
 * if a file of opening balances is invalid, or has balances of an export without rows.
 */
export async function readOpeningMovements(
  option: OpeningOption,
  { opened, contracts, period, exports }: OpenedExport,
): Promise<OpeningMovements> {
  const { manifest } = opened
  const labels = labelsOf(manifest)
  const { amounts, findings } = await readOpening(option, { opened, labels, exports })
  if (amounts.length === 0) return { movements: [], findings }
  const first = await readFirstRow(opened)
  if (first === undefined) {
    if (typeof option !== 'string') return { movements: [], findings: NO_FINDINGS }
    throw new ExportError(
      'USAGE',
      `the export has no movement, so the opening balances of ${option} have no date`,
      { fix: 'Omit --opening.' },
    )
  }
  const isInPeriod = first.block_timestamp >= period.from && first.block_timestamp < period.to
  const time = new Date(Date.parse(first.block_timestamp) - 1_000).toISOString()
  const coin = manifest.job.nativeSymbol ?? chainOf(manifest.job.chain)?.symbol ?? null
  const movements = amounts.map(({ wallet, asset, value }): Movement => {
    const named = withContract(toAsset(asset, coin), contracts)
    return {
      time,
      transaction: '',
      chain: first.chain_id,
      source: 'opening',
      block: first.block_number,
      index: first.transaction_index ?? String(UNKNOWN_INDEX),
      entry: sha256(`opening|${wallet}|${assetKey(named)}`).slice(0, 32),
      wallet,
      label: labels.get(wallet) ?? null,
      type: 'opening',
      method: METHOD,
      counterparty: null,
      isOwn: false,
      asset: named,
      isOut: value < 0n,
      value: value < 0n ? -value : value,
    }
  })
  const held = isInPeriod ? movements.filter(({ value }) => value !== 0n) : []
  return {
    movements: held.sort((a, b) => (a.wallet < b.wallet ? -1 : a.wallet > b.wallet ? 1 : 0)),
    findings,
  }
}

const FIRST_ROW = ['block_timestamp', 'chain_id', 'block_number', 'transaction_index'] as const

async function readFirstRow(opened: Dataset) {
  for await (const [row] of opened.stream('ledger', FIRST_ROW)) if (row !== undefined) return row
  return undefined
}

type DeclaredAsset = { type: string; address: string | null; tokenId: string | null }

/** The asset of a line. Its symbol and decimals are unknown if the ledger has no row of it. */
function toAsset({ type, address, tokenId }: DeclaredAsset, coin: string | null): Asset {
  return {
    type: type as Asset['type'],
    address,
    tokenId,
    digits: undefined,
    ticker: undefined,
    symbol: address === null ? coin : null,
    decimals: address === null ? COIN_DECIMALS : isNft({ type }) ? 0 : null,
  }
}
