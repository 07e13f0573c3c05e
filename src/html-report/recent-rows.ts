import { deflateRawSync } from 'node:zlib'
import type { Manifest } from '../core/model/manifest.ts'
import { shiftDecimal } from '../core/platform/decimal.ts'
import type { AggregatedRow } from './ledger-aggregates.ts'
import type { PackedColumn } from './page-data.ts'

/** Rows in the encoding that the page's script unpacks. */
export type PackedRows = {
  /** JSON array of `PackedColumn`, compressed with raw deflate and base64-encoded. */
  packed: string
  /** Number of rows in `packed`, and in the ledger. */
  included: number
  total: number
}

/** Columns of the page's row list. A label column comes before the column of its addresses. */
export const ROW_COLUMNS = [
  'time',
  'wallet label',
  'wallet',
  'kind',
  'way',
  'amount',
  'asset',
  'counterparty label',
  'counterparty',
  'transaction',
] as const

class TextColumn implements PackedColumn {
  readonly texts: string[] = []
  readonly indexes: number[] = []
  readonly #known = new Map<string, number>()

  add(text: string): void {
    let index = this.#known.get(text)
    if (index === undefined) {
      index = this.texts.push(text) - 1
      this.#known.set(text, index)
    }
    this.indexes.push(index)
  }
}

/** Keeps the newest `maxRows` of the rows passed to `add`. */
export function openRecentRows({ tables }: Manifest, maxRows: number) {
  const total = tables.ledger?.rows ?? 0
  let seen = 0
  const names = ROW_COLUMNS.filter((name) => !name.endsWith(' label'))
  const columns = new Map(names.map((name) => [name as string, new TextColumn()]))
  return {
    add: (row: AggregatedRow): void => {
      seen += 1
      if (seen <= total - maxRows) return
      for (const [at, text] of cellsOf(row).entries()) columns.get(names[at] ?? '')?.add(text)
    },
    /** @param labels Labels of wallets and counterparties by address */
    packed: (labels: ReadonlyMap<string, string>): PackedRows => {
      const json = JSON.stringify(
        ROW_COLUMNS.map((name): PackedColumn => {
          const { texts, indexes } = columns.get(name.replace(' label', '')) ?? new TextColumn()
          const isLabel = name.endsWith(' label')
          return { texts: isLabel ? texts.map((address) => labels.get(address) ?? '') : texts, indexes }
        }),
      )
      return { packed: deflateRawSync(json).toString('base64'), included: Math.min(total, maxRows), total }
    },
  }
}

function cellsOf(row: AggregatedRow): string[] {
  const { block_timestamp: time, value, asset_symbol: symbol, asset_address: address, token_id: id } = row
  const amount = shiftDecimal(value, row.asset_decimals === null ? null : Number(row.asset_decimals))
  const name =
    address === null
      ? (symbol ?? 'coin')
      : `${symbol ?? row.asset_type} ${address}${id === null ? '' : ` #${id}`}`
  return [
    `${time.slice(0, 10)} ${time.slice(11, 19)}`,
    row.wallet_address,
    row.entry_type,
    row.direction,
    amount ?? `${value} units`,
    name,
    row.counterparty_address ?? '',
    row.transaction_hash,
  ]
}
