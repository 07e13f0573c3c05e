// Deliberately independent of src: the rows of every table as CONTRACT section 2 defines them.
import type { ChainModel, PlacedTransaction, TransactionContent } from './chain-types.ts'
import { type ExpectedRow, parties, text } from './expected-cells.ts'
import { type Facts, factsOf, logIndexesOf } from './expected-facts.ts'
import { type ExpectedFee, type FeeRules, feeOf } from './expected-fees.ts'
import { ledgerOf } from './expected-ledger.ts'
import { type FetchedVersions, type FetchedView, fetchedViewOf } from './transaction-versions.ts'

export type ExpectedTables = Record<string, ExpectedRow[]>

/** The part of an export that one wallet contributes. */
export type CoveredWallet = {
  address: string
  label: string | null
  /** The transactions that its listing held at its last run, in chain order. */
  placed: readonly PlacedTransaction[]
  /** Exclusive. */
  toBlock: number
}
export type Export = {
  chainModel: ChainModel
  chain: string
  nativeSymbol: string | null
  feeRules: FeeRules
  wallets: readonly CoveredWallet[]
  fetched: FetchedVersions
}

/** The rows of all tables, in the order that the contract defines. */
export function expectedTables(input: Export): ExpectedTables {
  const wallets = [...input.wallets].sort((a, b) => (a.address < b.address ? -1 : 1))
  const transactions = new Map<string, { placed: PlacedTransaction; viewers: CoveredWallet[] }>()
  for (const wallet of wallets) {
    for (const placed of wallet.placed) {
      const entry = transactions.get(placed.content.hash) ?? { placed, viewers: [] }
      entry.viewers.push(wallet)
      transactions.set(placed.content.hash, entry)
    }
  }
  const inOrder = [...transactions.values()].sort(
    (a, b) => a.placed.block.number - b.placed.block.number || a.placed.index - b.placed.index,
  )
  const tables: ExpectedTables = {
    transactions: [],
    erc20_transfers: [],
    erc721_transfers: [],
    erc1155_transfers: [],
    internal_transactions: [],
    wallet_transactions: [],
    ledger: [],
  }
  for (const { placed, viewers } of inOrder) addTransaction(tables, { ...input, placed, viewers, wallets })
  return tables
}

type TransactionInput = Export & { placed: PlacedTransaction; viewers: readonly CoveredWallet[] }

function addTransaction(tables: ExpectedTables, input: TransactionInput): void {
  const { placed, viewers, chain, chainModel } = input
  const { block, content, index } = placed
  const views = viewers.map(({ address }) => fetchedViewOf(input.fetched, content, address) as FetchedView)
  const timeMs = chainModel.givesMs ? block.timeMs : Math.floor(block.timeMs / 1000) * 1000
  const prefix = {
    chain_id: chain,
    block_number: String(block.number),
    block_hash: block.hash,
    block_timestamp: new Date(timeMs).toISOString(),
    transaction_hash: content.hash,
    transaction_index: String(index),
  }
  const add = (table: string, row: ExpectedRow) => tables[table]?.push({ ...prefix, ...row })
  const facts = factsOf(views)
  const isOwn = input.wallets.some(
    ({ address, toBlock }) => address === content.from.address && block.number < toBlock,
  )
  const fee = feeOf(content, { ...input.feeRules, isOwn })
  add('transactions', transactionRow(content, fee))
  for (const row of facts.erc20) add('erc20_transfers', row)
  for (const row of facts.erc721) add('erc721_transfers', row)
  for (const row of facts.erc1155) add('erc1155_transfers', row)
  for (const row of facts.internal) add('internal_transactions', row)
  viewers.forEach(({ address, label }, at) => {
    const { view } = views[at] as FetchedView
    add('wallet_transactions', {
      wallet_address: address,
      wallet_label: label,
      is_sender: String(content.from.address === address),
      is_receiver: String(content.to.address === address),
      ...countsOf(view, facts),
    })
  })
  for (const row of ledgerOf({ ...input, fee: fee.fee }, facts)) add('ledger', row)
}

/** Number of rows of each table that the view lists. A log counts for the table that has its rows, whatever the view calls it. */
function countsOf(view: TransactionContent, facts: Facts): ExpectedRow {
  const logIndexes = logIndexesOf(view)
  const count = (rows: readonly ExpectedRow[]) =>
    String(rows.filter((row) => logIndexes.has(Number(row.log_index))).length)
  return {
    erc20_transfers: count(facts.erc20),
    erc721_transfers: count(facts.erc721),
    erc1155_transfers: count(facts.erc1155),
    internal_transactions: String(view.internal.length),
  }
}

function transactionRow(content: TransactionContent, { listed, effective, fee }: ExpectedFee): ExpectedRow {
  return {
    transaction_type: String(content.type),
    status: content.status,
    success: String(content.status === '1'),
    nonce: content.nonce,
    ...parties(content),
    value: content.value,
    gas_limit: content.gasLimit,
    gas_used: content.gasUsed,
    gas_price: listed,
    effective_gas_price: effective,
    transaction_fee: fee,
    call_type: content.method.callType,
    method_id: content.method.methodHash,
    method_name: text(content.method.methodName),
    block_min_delay_excess: null,
    extra_fee: content.type === 3 ? null : '0',
  }
}
