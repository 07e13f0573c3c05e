import { COIN_DECIMALS, isNft } from '../core/model/asset.ts'
import { chainOf } from '../core/model/chains.ts'
import { ExportError } from '../core/model/errors.ts'
import { UNKNOWN_INDEX } from '../core/model/item-key.ts'
import { sha256 } from '../core/platform/sha256.ts'
import { labelsOf } from '../ledger/balances/balances.ts'
import { readOpening } from '../ledger/balances/read-opening.ts'
import { selectWallets } from '../ledger/balances/select-wallets.ts'
import type { OpenExport } from '../read/open-export.ts'
import { type Asset, assetKey, type Movement } from './movement.ts'
import { type Contracts, withContract } from './names/contracts.ts'
import type { Period } from './period.ts'

/** The method of opening balances, by which labels can assign a type to them. */
const METHOD = 'opening balance'

/** Opening balances as movements, by wallet. */
export type Opening = {
  movements: Movement[]
  /** Number of lines of the file without a value and an amount. */
  unfilled: number
}

export const NO_OPENING: Opening = { movements: [], unfilled: 0 }

/**
 * Reads a file of opening balances, and returns them as movements of the second before the first row of the export. They
 * belong to the period that contains this row, so that of several converted periods only one has them. Throws USAGE
 * if the file is invalid, or if the export has no rows.
 */
export async function readOpeningMovements(
  file: string | undefined,
  { opened, contracts, period }: { opened: OpenExport; contracts: Contracts; period: Period },
): Promise<Opening> {
  if (file === undefined) return NO_OPENING
  const { manifest } = opened
  const labels = labelsOf(manifest)
  const wallets = selectWallets(manifest, undefined)
  const { amounts, unfilled } = await readOpening(file, { opened, labels, wallets })
  const first = await readFirstRow(opened, file)
  const isInPeriod = first.block_timestamp >= period.from && first.block_timestamp < period.to
  const time = new Date(Date.parse(first.block_timestamp) - 1_000).toISOString()
  const coin = manifest.job.nativeSymbol ?? chainOf(manifest.job.chain)?.symbol ?? null
  const movements = amounts.map(({ wallet, asset, value }): Movement => {
    const named = withContract(toAsset(asset, coin), contracts)
    return {
      ...{ time, transaction: '', chain: first.chain_id, source: 'opening' },
      ...{ block: first.block_number, index: first.transaction_index ?? String(UNKNOWN_INDEX) },
      entry: sha256(`opening|${wallet}|${assetKey(named)}`).slice(0, 32),
      ...{ wallet, label: labels.get(wallet) ?? null, type: 'opening', method: METHOD },
      ...{ counterparty: null, isOwn: false, asset: named },
      ...{ isOut: value < 0n, value: value < 0n ? -value : value },
    }
  })
  const held = isInPeriod ? movements.filter(({ value }) => value !== 0n) : []
  return {
    movements: held.sort((a, b) => (a.wallet < b.wallet ? -1 : a.wallet > b.wallet ? 1 : 0)),
    unfilled,
  }
}

const FIRST_ROW = ['block_timestamp', 'chain_id', 'block_number', 'transaction_index'] as const

async function readFirstRow(opened: OpenExport, file: string) {
  for await (const [row] of opened.stream('ledger', FIRST_ROW)) if (row !== undefined) return row
  throw new ExportError(
    'USAGE',
    `the export has no movement, so the opening balances of ${file} have no date`,
    {
      fix: 'Omit --opening.',
    },
  )
}

type DeclaredAsset = { type: string; address: string | null; tokenId: string | null }

/** The asset of a line. Its symbol and decimals are unknown if the ledger has no row of it. */
function toAsset({ type, address, tokenId }: DeclaredAsset, coin: string | null): Asset {
  return {
    ...{ type: type as Asset['type'], address, tokenId, digits: undefined, ticker: undefined },
    symbol: address === null ? coin : null,
    decimals: address === null ? COIN_DECIMALS : isNft({ type }) ? 0 : null,
  }
}
