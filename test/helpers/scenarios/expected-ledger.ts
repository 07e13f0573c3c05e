// Deliberately independent of src: ledger entries as CONTRACT section 2 defines them.
import { createHash } from 'node:crypto'
import type { PlacedTransaction, TransactionContent } from './chain-types.ts'
import { amount, type ExpectedRow, parties, text } from './expected-cells.ts'
import type { Facts } from './expected-facts.ts'

const ZERO = `0x${'0'.repeat(40)}`

type LedgerInput = {
  placed: PlacedTransaction
  /** All wallets of the export, by address. */
  wallets: readonly LedgerWallet[]
  chain: string
  nativeSymbol: string | null
  /** The fee of the transaction, in wei. */
  fee: string
}
type LedgerWallet = { address: string; label: string | null; toBlock: number }

/** Ledger rows of one transaction: those of each wallet in turn, in the order of its movements. */
export function ledgerOf(input: LedgerInput, facts: Facts): ExpectedRow[] {
  const { block } = input.placed
  const covered = input.wallets.filter(({ toBlock }) => block.number < toBlock)
  const own = new Set(covered.map(({ address }) => address))
  const movements = movementsOf(input, facts)
  return covered.flatMap((wallet) =>
    movements
      .flatMap((movement) =>
        directionsOf(movement, wallet.address).map((direction) => ({ movement, direction })),
      )
      .map((side, at) => ({ ...entryOf(input, wallet, { ...side, own }), entry_index: String(at) })),
  )
}

type Direction = 'out' | 'in'

/** Directions in which a movement changes the wallet's balance; both for a transfer to itself. */
function directionsOf({ fee = false, fact }: Movement, wallet: string): Direction[] {
  const isOut = fact.from_address === wallet
  const isIn = fact.to_address === wallet && !fee
  return [...(isOut ? (['out'] as const) : []), ...(isIn ? (['in'] as const) : [])]
}

type EntrySide = { movement: Movement; direction: Direction; own: ReadonlySet<string> }

function entryOf(
  { placed: { content }, chain }: LedgerInput,
  wallet: LedgerWallet,
  { movement, direction, own }: EntrySide,
): ExpectedRow {
  const { source, index, fee = false, fact, asset, value } = movement
  const { from_address: from = null, to_address: to = null } = fact
  const other = fee ? null : direction === 'out' ? to : from
  const type = typeOf(movement)
  const signed = direction === 'out' ? `-${value}` : value
  const id = [chain, content.hash, wallet.address, source, index, type, direction].join('|')
  return {
    entry_id: createHash('sha256').update(id).digest('hex').slice(0, 32),
    wallet_address: wallet.address,
    wallet_label: wallet.label,
    entry_type: type,
    direction,
    counterparty_address: other,
    counterparty_name: fee ? null : ((direction === 'out' ? fact.to_name : fact.from_name) ?? null),
    counterparty_is_own: String(other !== null && own.has(other)),
    ...asset,
    value: signed,
    amount: amount(signed, asset.asset_decimals === null ? null : Number(asset.asset_decimals)),
    method_name: text(content.method.methodName),
    source,
  }
}

function typeOf({ fee = false, fact }: Movement): string {
  const { from_address: from = null, to_address: to = null } = fact
  if (fee) return 'fee'
  if (from === to) return 'self'
  if (from === ZERO) return 'mint'
  return to === ZERO ? 'burn' : 'transfer'
}

type Movement = {
  source: string
  index: string
  fee?: boolean
  /** Sender and recipient. */
  fact: ExpectedRow
  asset: ExpectedRow
  value: string
}

const NON_TRANSFER_CALLS = ['DELEGATECALL', 'STATICCALL', 'CALLCODE']

/** Fee, native value, internal, ERC-20, ERC-721, ERC-1155; only the fee of a failed transaction. Zero values are left out. */
function movementsOf({ placed: { content }, nativeSymbol, fee }: LedgerInput, facts: Facts): Movement[] {
  const coin: ExpectedRow = {
    asset_type: 'native',
    asset_address: null,
    asset_symbol: nativeSymbol,
    asset_decimals: '18',
    token_id: null,
  }
  const fact = parties(content)
  const payer = { from_address: fact.from_address ?? null }
  const all: Movement[] = [
    { source: 'transactions', index: '', fee: true, fact: payer, asset: coin, value: fee },
  ]
  const topLevel = facts.internal.find((row) => isTopLevelCall(row, content))
  if (content.status === '1')
    all.push(
      { source: 'transactions', index: '', fact, asset: coin, value: content.value },
      ...facts.internal
        .filter((row) => row !== topLevel && movesCoins(row))
        .map((row) => internalMovement(row, coin)),
      ...facts.erc20.map((row) => tokenMovement('erc20', row)),
      ...facts.erc721.map((row) => tokenMovement('erc721', row)),
      ...facts.erc1155.map((row) => tokenMovement('erc1155', row)),
    )
  return all.filter(({ value }) => value !== '0')
}

const movesCoins = (row: ExpectedRow) =>
  row.reverted === 'false' && !NON_TRANSFER_CALLS.includes(row.internal_type ?? '')

/** Whether a call is the transaction's own call, not an earlier, reverted one. Its value moves only once. */
function isTopLevelCall(
  row: ExpectedRow,
  { from, to, value, gasUsed, gasLimit }: TransactionContent,
): boolean {
  const columns = [row.from_address, row.to_address, row.value, row.gas_used, row.gas_limit]
  const own = [from.address, text(to.address), value, gasUsed, gasLimit]
  return (
    row.reverted === 'false' &&
    ['CALL', 'CREATE', 'UNKNOWN'].includes(row.internal_type ?? '') &&
    columns.every((column, at) => column === own[at])
  )
}

const internalMovement = (row: ExpectedRow, coin: ExpectedRow): Movement => ({
  source: 'internal_transactions',
  index: row.internal_id ?? '',
  fact: row,
  asset: coin,
  value: row.value ?? '',
})

function tokenMovement(type: 'erc20' | 'erc721' | 'erc1155', row: ExpectedRow): Movement {
  const decimals = { erc20: row.token_decimals, erc721: '0', erc1155: row.metadata_decimals }[type] ?? null
  return {
    source: `${type}_transfers`,
    index: type === 'erc1155' ? `${row.log_index}|${row.transfer_ordinal}` : (row.log_index ?? ''),
    fact: row,
    asset: {
      asset_type: type,
      asset_address: row.token_address ?? null,
      asset_symbol: row.token_symbol ?? null,
      asset_decimals: decimals,
      token_id: row.token_id ?? null,
    },
    value: type === 'erc721' ? '1' : (row.value ?? ''),
  }
}
