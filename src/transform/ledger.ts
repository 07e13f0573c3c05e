import { ENTRY_TYPES } from '../core/model/entry-types.ts'
import { sha256 } from '../core/platform/sha256.ts'
import type { Cells, Prefix } from '../core/table/index.ts'
import type { Movement } from './movements.ts'

/**
 * The part of a map from address to label that rows need: `has` says whether an address is a wallet of the
 * job.
 */
export type WalletLabels = Pick<ReadonlyMap<string, string | null>, 'has' | 'get'>

export type LedgerContext = {
  prefix: Prefix
  methodName: string | null
  /** Labels of all wallets of the job, by address. */
  wallets: WalletLabels
}

const ZERO = '0x0000000000000000000000000000000000000000'

/**
 * Returns the ledger rows of one transaction, sorted by wallet address, then in the order of the movements.
 */
export function ledgerRows(movements: readonly Movement[], context: LedgerContext): Cells<'ledger'>[] {
  const { wallets } = context
  const rows: Cells<'ledger'>[] = []
  for (const movement of movements) {
    const { type, parties } = movement
    const { from_address: from, to_address: to } = parties
    const { rowOf } = ENTRY_TYPES[type]
    if (rowOf !== 'receiver' && from !== null && wallets.has(from))
      rows.push(ledgerRow(movement, { wallet: from, isOut: true }, context))
    if (rowOf !== 'sender' && to !== null && wallets.has(to))
      rows.push(ledgerRow(movement, { wallet: to, isOut: false }, context))
  }
  return numberRows(rows)
}

/** Sorts rows by wallet (stable) and sets `entry_index`, which counts the rows of each wallet from 0. */
function numberRows(rows: Cells<'ledger'>[]): Cells<'ledger'>[] {
  if (rows.some(({ wallet_address }) => wallet_address !== rows[0]?.wallet_address)) rows.sort(byWallet)
  let wallet = ''
  let index = 0
  for (const row of rows) {
    index = row.wallet_address === wallet ? index + 1 : 0
    wallet = row.wallet_address
    row.entry_index = index
  }
  return rows
}

function byWallet(a: Cells<'ledger'>, b: Cells<'ledger'>): number {
  return a.wallet_address < b.wallet_address ? -1 : a.wallet_address > b.wallet_address ? 1 : 0
}

/**
 * Returns the row of a movement from the point of view of its sender or receiver. `numberRows` sets
 * `entry_index` later.
 */
function ledgerRow(
  movement: Movement,
  { wallet, isOut }: { wallet: string; isOut: boolean },
  { prefix, methodName, wallets }: LedgerContext,
): Cells<'ledger'> {
  const { asset, source, parties, value, amount } = movement
  const type = entryType(movement)
  const direction = isOut ? 'out' : 'in'
  const counterparty = isOut ? parties.to_address : parties.from_address
  const { chain_id, transaction_hash } = prefix
  const content = `${chain_id}|${transaction_hash}|${wallet}|${source}|${movement.index}|${type}|${direction}`
  return {
    entry_id: entryId(content),
    wallet_address: wallet,
    wallet_label: wallets.get(wallet) ?? null,
    entry_index: 0,
    entry_type: type,
    direction,
    counterparty_address: counterparty,
    counterparty_name: isOut ? parties.to_name : parties.from_name,
    counterparty_is_own: counterparty !== null && wallets.has(counterparty),
    asset_type: asset.type,
    asset_address: asset.address,
    asset_symbol: asset.symbol,
    asset_decimals: asset.decimals,
    token_id: asset.tokenId,
    value: isOut ? `-${value}` : value,
    amount: isOut && amount !== null ? `-${amount}` : amount,
    method_name: methodName,
    source,
  }
}

function entryType({ type, parties }: Movement): string {
  const { from_address: from, to_address: to } = parties
  if (type !== 'transfer') return type
  if (from === to) return 'self'
  if (from === ZERO) return 'mint'
  return to === ZERO ? 'burn' : 'transfer'
}

/** First 32 hex digits of the SHA-256 of the fields that identify a row (CONTRACT section 2.5). */
function entryId(content: string): string {
  return sha256(content).slice(0, 32)
}
