import type { Cells, Prefix } from '../core/table/index.ts'
import { type ErcTable, type Internal, type LogRow, type Native, onChainLogFields } from '../sources/view.ts'
import { byContent, type ViewUnion, type WalletView } from './union-views.ts'

/**
 * Returns true if a wallet's view contradicts the union of all views: fields of the transaction, of a log or
 * of an internal call differ, or the view lacks an entry that has the wallet as a party. Names, prices,
 * metadata and the order of internal calls are not compared, because they are not on the chain.
 */
export function contradicts(union: ViewUnion, seen: WalletView): boolean {
  return (
    differsInNative(union.native, seen.view.native) ||
    ERC_TABLES.some((table) => differsInLogs(table, union, seen)) ||
    differsInInternal(union.internal, seen)
  )
}

const ERC_TABLES: readonly ErcTable[] = ['erc20', 'erc721', 'erc1155']

const PREFIX_FIELDS = [
  'block_number',
  'block_hash',
  'block_timestamp',
  'transaction_index',
] as const satisfies readonly (keyof Prefix)[]
const NATIVE_FIELDS = [
  'transaction_type',
  'status',
  'nonce',
  'from_address',
  'to_address',
  'value',
  'gas_limit',
  'gas_used',
  'gas_price',
] as const satisfies readonly (keyof Cells<'transactions'>)[]
/** Fields of the call, which a listing may omit. Only two different statements contradict each other. */
const CALL_FIELDS = ['call_type', 'method_id'] as const satisfies readonly (keyof Cells<'transactions'>)[]

function differsInNative(a: Native, b: Native): boolean {
  if (a === b) return false
  const isUnknown = (value: unknown, native: Native) => value === null && native.isPartial === true
  const differs = (one: unknown, other: unknown) =>
    one !== other && !isUnknown(one, a) && !isUnknown(other, b)
  return (
    PREFIX_FIELDS.some((name) => differs(a.prefix[name], b.prefix[name])) ||
    NATIVE_FIELDS.some((name) => differs(a.row[name], b.row[name])) ||
    CALL_FIELDS.some((name) => a.row[name] !== null && b.row[name] !== null && a.row[name] !== b.row[name])
  )
}

type Parties = { from_address: string | null; to_address: string | null }

const isParty = ({ from_address, to_address }: Parties, wallet: string) =>
  from_address === wallet || to_address === wallet

function differsInLogs(table: ErcTable, union: ViewUnion, { wallet, view }: WalletView): boolean {
  const [all, own]: [readonly LogRow[], readonly LogRow[]] = [union[table], view[table]]
  if (all === own || (all.length === 0 && own.length === 0)) return false
  const byKey = new Map(own.map((entry) => [entry.transfer_id, entry]))
  let found = 0
  for (const entry of all) {
    const ownEntry = byKey.get(entry.transfer_id)
    if (ownEntry === undefined) {
      if (view.isComplete && isParty(entry, wallet)) return true
    } else {
      found += 1
      if (ownEntry !== entry && onChainLogFields(ownEntry) !== onChainLogFields(entry)) return true
    }
  }
  return found < byKey.size
}

function differsInInternal(union: readonly Internal[], { wallet, view }: WalletView): boolean {
  if (union === view.internal) return false
  const own = byContent(view.internal)
  for (const [content, entries] of byContent(union)) {
    const ownEntries = own.get(content) ?? []
    const involvesWallet = entries.some(({ row }) => isParty(row, wallet))
    if (ownEntries.length < entries.length && involvesWallet && view.isComplete) return true
    if (ownEntries.length === entries.length && onChainCallFields(ownEntries) !== onChainCallFields(entries))
      return true
  }
  return false
}

/** Kind, outcome and gas of the calls as one string that does not depend on their order. */
function onChainCallFields(entries: readonly Internal[]): string {
  const lines = entries.map(
    ({ row }) => `${row.internal_type} ${row.reverted} ${row.gas_used} ${row.gas_limit}`,
  )
  return lines.sort().join('\n')
}
