import { acceptsSwapIn, type ImportRow, importRowsOf } from '../accounting/import-rows.ts'
import { type Asset, assetKey, groupByWallet, type Movement } from '../accounting/movement.ts'
import type { EventKind } from './page-data.ts'

export type Amount = { asset: Asset; value: bigint }

/** One sentence about a wallet in a transaction. Amounts are positive. */
export type WalletEvent = {
  kind: EventKind
  wallet: string
  /** The other party of it: its address; null if there is none. */
  party: string | null
  in: readonly Amount[]
  out: readonly Amount[]
  fee: Amount | undefined
  /** The called method, for transactions that moved nothing. */
  method: string | null
}

/**
 * Describes a transaction by the rows that conversions write for it: swaps, wraps, pools and own transfers are those of
 * `convert` and `statement`. A transfer between two wallets is one event, of the sender. Amounts that a wallet received
 * from, or sent to, one party are one event.
 *
 * @param movements of a transaction, with own transfers matched
 */
export function eventsOf(movements: readonly Movement[], isFailed: boolean): WalletEvent[] {
  const senders = new Set(movements.filter(({ isOwn, isOut }) => isOwn && isOut).map(transferKey))
  return groupByWallet(movements).flatMap((group) => {
    const events = new Map<string, WalletEvent>()
    let fee: Amount | undefined
    for (const row of importRowsOf(group, ACCEPTS_SWAP)) {
      if (row.kind === 'fee') fee = addTo(fee, row.out)
      else if (!isMirrored(row, senders)) addRow(events, row)
    }
    if (events.size === 0 && fee !== undefined) events.set('', feeEvent(group[0], isFailed))
    return [...events.values()].map((event, at) => (at === 0 ? { ...event, fee } : event))
  })
}

const ACCEPTS_SWAP = acceptsSwapIn('pair', () => true)

const addTo = (sum: Amount | undefined, amount: Amount | undefined): Amount | undefined =>
  sum === undefined || amount === undefined ? (amount ?? sum) : { ...sum, value: sum.value + amount.value }

/** The same key for both rows of a transfer between own wallets. */
function transferKey({ isOut, wallet, counterparty, asset, value }: Movement): string {
  const [from, to] = isOut ? [wallet, counterparty] : [counterparty, wallet]
  return `${from} ${to} ${assetKey(asset)} ${value}`
}

/** Whether the event of the sender describes the row. */
function isMirrored({ isOwn, kind, movements: [movement] }: ImportRow, senders: ReadonlySet<string>) {
  return kind === 'in' && (movement.type === 'self' || (isOwn && senders.has(transferKey(movement))))
}

function addRow(events: Map<string, WalletEvent>, row: ImportRow): void {
  const kind = kindOf(row)
  const party = partyOf(row)
  const key = row.poolMove === undefined ? `${kind} ${party}` : kind
  const { in: received = [], out: sent = [], party: earlier } = events.get(key) ?? {}
  events.set(key, {
    kind,
    wallet: row.movements[0].wallet,
    party: earlier ?? party,
    in: row.in === undefined ? received : [...received, row.in],
    out: row.out === undefined ? sent : [...sent, row.out],
    fee: undefined,
    method: null,
  })
}

const KIND_OF_TYPE: Partial<Record<string, EventKind>> = {
  mint: 'minted',
  burn: 'burned',
  self: 'self',
  wrap: 'wrapped',
  unwrap: 'unwrapped',
  import: 'imported',
  export: 'exported',
  opening: 'opening',
}

function kindOf(row: ImportRow): EventKind {
  const { kind, poolMove, isOwn, isWrap, out, movements } = row
  if (poolMove !== undefined)
    return poolMove === 'add' || poolMove === 'receiveShare' ? 'deposited' : 'withdrew'
  if (kind === 'swap') return isWrap ? (out?.asset.type === 'native' ? 'wrapped' : 'unwrapped') : 'swapped'
  const byType = KIND_OF_TYPE[movements[0].type]
  return byType ?? (isOwn ? 'moved' : kind === 'out' ? 'sent' : 'received')
}

/** The party of a row; of a swap the one with a name, or else the one that was paid. */
function partyOf({ movements }: ImportRow): string | null {
  const named = movements.find(({ counterpartyName }) => counterpartyName !== undefined)
  const paid = movements.find(({ isOut }) => isOut)
  return (named ?? paid ?? movements[0]).counterparty
}

const APPROVAL = /^(approve|increase_?allowance|set_?approval)/i

/** The event of a transaction that cost a fee and moved nothing. */
function feeEvent({ wallet, method }: Movement, isFailed: boolean): WalletEvent {
  const kind = isFailed ? 'failed' : APPROVAL.test(method ?? '') ? 'approved' : 'called'
  return { kind, wallet, party: null, in: [], out: [], fee: undefined, method }
}
