import type { Cells, Prefix } from '../core/table/index.ts'
import type { Internal } from '../sources/data-api/flatten/internal.ts'
import { type LogRow, logFacts, logKey } from '../sources/data-api/flatten/log-facts.ts'
import type { Native } from '../sources/data-api/flatten/native.ts'
import type { ErcTable } from '../sources/data-api/flatten/view.ts'
import { byContent, type United, type WalletView } from './union-views.ts'

/**
 * True where a wallet's view tells other facts of the chain than all views together: other fields of the transaction, of a
 * log or of an internal call, or no entry where one has the wallet as a party. Names, prices and metadata are no facts of
 * the chain, and the order of internal calls is none.
 */
export function contradicts(united: United, seen: WalletView): boolean {
  return (
    differsInNative(united.native, seen.view.native) ||
    ERC_TABLES.some((table) => differsInLogs(table, united, seen)) ||
    differsInInternal(united.internal, seen)
  )
}

const ERC_TABLES: readonly ErcTable[] = ['erc20', 'erc721', 'erc1155']

const PREFIX_FACTS = [
  'block_number',
  'block_hash',
  'block_timestamp',
  'transaction_index',
] as const satisfies readonly (keyof Prefix)[]
const NATIVE_FACTS = [
  ...(['transaction_type', 'status', 'nonce', 'from_address', 'to_address', 'value'] as const),
  ...(['gas_limit', 'gas_used', 'gas_price'] as const),
] satisfies readonly (keyof Cells<'transactions'>)[]

function differsInNative(a: Native, b: Native): boolean {
  if (a === b) return false
  return (
    PREFIX_FACTS.some((name) => a.prefix[name] !== b.prefix[name]) ||
    NATIVE_FACTS.some((name) => a.row[name] !== b.row[name])
  )
}

type Parties = { from_address: string | null; to_address: string | null }

const touches = ({ from_address, to_address }: Parties, wallet: string) =>
  from_address === wallet || to_address === wallet

function differsInLogs(table: ErcTable, united: United, { wallet, view }: WalletView): boolean {
  const [all, own]: [readonly LogRow[], readonly LogRow[]] = [united[table], view[table]]
  if (all === own || (all.length === 0 && own.length === 0)) return false
  const byKey = new Map(own.map((entry) => [logKey(entry), entry]))
  let found = 0
  for (const entry of all) {
    const mine = byKey.get(logKey(entry))
    if (mine === undefined) {
      if (view.isWhole && touches(entry, wallet)) return true
    } else {
      found += 1
      if (mine !== entry && logFacts(mine) !== logFacts(entry)) return true
    }
  }
  return found < byKey.size
}

function differsInInternal(united: readonly Internal[], { wallet, view }: WalletView): boolean {
  if (united === view.internal) return false
  const own = byContent(view.internal)
  for (const [content, entries] of byContent(united)) {
    const mine = own.get(content) ?? []
    const isParty = entries.some(({ row }) => touches(row, wallet))
    if (mine.length < entries.length && isParty && view.isWhole) return true
    if (mine.length === entries.length && describe(mine) !== describe(entries)) return true
  }
  return false
}

/** Kind, outcome and gas of calls, whatever their order. */
function describe(entries: readonly Internal[]): string {
  const lines = entries.map(
    ({ row }) => `${row.internal_type} ${row.reverted} ${row.gas_used} ${row.gas_limit}`,
  )
  return lines.sort().join('\n')
}
