// An independent implementation of the rows of every table, written from section 2 of CONTRACT.md. It deliberately
// shares no code with the program.
import { createHash } from 'node:crypto'
import {
  type ChainModel,
  type Party,
  type PlacedTransaction,
  type TransactionContent,
  viewOf,
} from './chain-model.ts'

export type ExpectedRow = Record<string, string | null>
export type ExpectedTables = Record<string, ExpectedRow[]>

/** The part of a wallet's history that an export covers. */
export type CoveredWallet = {
  address: string
  label: string | null
  /** The transactions of its listing in the last run that read it, in chain order. */
  placed: readonly PlacedTransaction[]
  /** Exclusive. */
  toBlock: number
}
export type Export = {
  chainModel: ChainModel
  chain: string
  nativeSymbol: string | null
  wallets: readonly CoveredWallet[]
}

const text = (value: string | undefined) => (value === undefined || value === '' ? null : value)
const nameOf = ({ name }: Party) => text(name)
const addressOf = ({ address }: Party) => text(address)
const parties = ({ from, to }: { from: Party; to: Party }): ExpectedRow => ({
  from_address: addressOf(from),
  from_name: nameOf(from),
  to_address: addressOf(to),
  to_name: nameOf(to),
})

/** `value / 10^decimals` as a plain decimal; null if the decimals are unknown. */
function amount(value: string, decimals: number | null | undefined): string | null {
  if (decimals === null || decimals === undefined) return null
  const negative = value.startsWith('-')
  const digits = value.replace('-', '').padStart(decimals + 1, '0')
  const [integerPart, fractionDigits] = [
    digits.slice(0, digits.length - decimals),
    digits.slice(digits.length - decimals),
  ]
  const fraction = fractionDigits.replace(/0+$/, '')
  const plain = fraction === '' ? integerPart : `${integerPart}.${fraction}`
  return negative && plain !== '0' ? `-${plain}` : plain
}

/** The rows of all tables, in the order that the contract defines. */
export function expectedTables(input: Export): ExpectedTables {
  const wallets = [...input.wallets].sort((a, b) => (a.address < b.address ? -1 : 1))
  const seen = new Map<string, { placed: PlacedTransaction; viewers: CoveredWallet[] }>()
  for (const wallet of wallets) {
    for (const placed of wallet.placed) {
      const entry = seen.get(placed.content.hash) ?? { placed, viewers: [] }
      entry.viewers.push(wallet)
      seen.set(placed.content.hash, entry)
    }
  }
  const inOrder = [...seen.values()].sort(
    (a, b) => a.placed.block.number - b.placed.block.number || a.placed.index - b.placed.index,
  )
  const tables: ExpectedTables = {
    ...{ transactions: [], erc20_transfers: [], erc721_transfers: [], erc1155_transfers: [] },
    ...{ internal_transactions: [], wallet_transactions: [], ledger: [] },
  }
  for (const { placed, viewers } of inOrder) addTransaction(tables, { ...input, placed, viewers, wallets })
  return tables
}

type TransactionInput = Export & { placed: PlacedTransaction; viewers: readonly CoveredWallet[] }

function addTransaction(tables: ExpectedTables, input: TransactionInput): void {
  const { placed, viewers, chain, chainModel } = input
  const { block, content, index } = placed
  const views = viewers.map(({ address }) => viewOf(content, address) as TransactionContent)
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
  const facts = factsOf(content, views)
  add('transactions', transactionRow(content))
  for (const row of facts.erc20) add('erc20_transfers', row)
  for (const row of facts.erc721) add('erc721_transfers', row)
  for (const row of facts.erc1155) add('erc1155_transfers', row)
  for (const row of facts.internal) add('internal_transactions', row)
  viewers.forEach(({ address, label }, at) => {
    const view = views[at] as TransactionContent
    add('wallet_transactions', {
      wallet_address: address,
      wallet_label: label,
      is_sender: String(content.from.address === address),
      is_receiver: String(content.to.address === address),
      erc20_transfers: String(view.erc20.length),
      erc721_transfers: String(view.erc721.length),
      erc1155_transfers: String(view.erc1155.length),
      internal_transactions: String(view.internal.length),
    })
  })
  for (const row of ledgerOf(input, facts)) add('ledger', row)
}

function transactionRow(content: TransactionContent): ExpectedRow {
  const fee = BigInt(content.gasUsed) * BigInt(content.gasPrice)
  return {
    transaction_type: String(content.type),
    status: content.status,
    success: String(content.status === '1'),
    nonce: content.nonce,
    ...parties(content),
    value: content.value,
    gas_limit: content.gasLimit,
    gas_used: content.gasUsed,
    gas_price: content.gasPrice,
    transaction_fee: fee.toString(),
    call_type: content.method.callType,
    method_id: content.method.methodHash,
    method_name: text(content.method.methodName),
    block_min_delay_excess: null,
  }
}

type Facts = { erc20: ExpectedRow[]; erc721: ExpectedRow[]; erc1155: ExpectedRow[]; internal: ExpectedRow[] }

const NO_METADATA = Object.fromEntries(
  [
    'index_status',
    'updated_at',
    'name',
    'symbol',
    'description',
    'image_uri',
    'animation_uri',
    'external_url',
    'background',
  ].map((name) => [`metadata_${name}`, null]),
)

/** The facts in any of the views, each once. */
function factsOf(content: TransactionContent, views: readonly TransactionContent[]): Facts {
  const listedBy = <T>(of: (view: TransactionContent) => readonly T[]) => new Set(views.flatMap(of))
  const inAny = <T>(all: readonly T[], some: Set<T>) => all.filter((entry) => some.has(entry))
  return {
    erc20: inAny(
      content.erc20,
      listedBy((view) => view.erc20),
    ).map((entry) => {
      const { address, name, symbol, decimals } = entry.erc20Token
      return {
        log_index: String(entry.logIndex),
        token_address: address,
        token_name: text(name),
        token_symbol: text(symbol),
        token_decimals: decimals === undefined ? null : String(decimals),
        ...parties(entry),
        value: entry.value,
        amount: amount(entry.value, decimals),
        price_currency: null,
        price_value: null,
      }
    }),
    erc721: inAny(
      content.erc721,
      listedBy((view) => view.erc721),
    ).map((entry) => {
      const { address, name, symbol, tokenId, tokenUri, metadata } = entry.erc721Token
      return {
        log_index: String(entry.logIndex),
        token_address: address,
        token_name: text(name),
        token_symbol: text(symbol),
        token_id: tokenId,
        token_uri: text(tokenUri),
        owner_address: null,
        ...parties(entry),
        ...NO_METADATA,
        metadata_index_status: metadata?.indexStatus ?? null,
        metadata_updated_at:
          metadata === undefined
            ? null
            : new Date(metadata.metadataLastUpdatedTimestamp * 1000).toISOString(),
        metadata_name: text(metadata?.name),
        metadata_attributes: text(metadata?.attributes),
      }
    }),
    erc1155: inAny(
      content.erc1155,
      listedBy((view) => view.erc1155),
    ).map((entry) => {
      const { address, tokenId, tokenUri, metadata } = entry.erc1155Token
      const ofLog = content.erc1155.filter(({ logIndex }) => logIndex === entry.logIndex)
      return {
        log_index: String(entry.logIndex),
        transfer_ordinal: String(ofLog.indexOf(entry)),
        token_address: address,
        token_id: tokenId,
        token_uri: text(tokenUri),
        ...parties(entry),
        value: entry.value,
        ...NO_METADATA,
        metadata_index_status: metadata.indexStatus,
        metadata_description: text(metadata.description),
        metadata_decimals: metadata.decimals === undefined ? null : String(metadata.decimals),
        metadata_properties: null,
      }
    }),
    internal: internalRows(views),
  }
}

/**
 * Internal transactions in the order of the first view, then those only in further views, matched by content and count.
 */
function internalRows(views: readonly TransactionContent[]): ExpectedRow[] {
  const rows: ExpectedRow[] = []
  for (const { internal } of views) {
    const counts = new Map<string, number>()
    for (const entry of internal) {
      const { from, to, internalTxType, value, isReverted, gasUsed, gasLimit } = entry
      const content = JSON.stringify([addressOf(from), addressOf(to), value])
      const digest = createHash('sha256').update(content).digest('hex').slice(0, 16)
      const nth = counts.get(digest) ?? 0
      counts.set(digest, nth + 1)
      const id = `${digest}-${nth}`
      if (rows.some(({ internal_id }) => internal_id === id)) continue
      rows.push({
        internal_id: id,
        internal_type: internalTxType,
        ...parties(entry),
        value,
        reverted: String(isReverted),
        gas_limit: gasLimit,
        gas_used: gasUsed,
      })
    }
  }
  return rows
}

type Movement = {
  source: string
  index: string
  fee?: boolean
  fact: ExpectedRow
  asset: ExpectedRow
  value: string
}

function ledgerOf({ placed, wallets, chain, nativeSymbol }: TransactionInput, facts: Facts): ExpectedRow[] {
  const { content, block } = placed
  const rows: ExpectedRow[] = []
  const covered = wallets.filter(({ toBlock }) => block.number < toBlock)
  const own = new Set(covered.map(({ address }) => address))
  const movements = movementsOf(content, facts, nativeSymbol)
  for (const { address: wallet, label } of covered) {
    let entry = 0
    for (const { source, index, fee = false, fact, asset, value } of movements) {
      const { from_address: from = null, to_address: to = null } = fact
      for (const direction of ['out', 'in'] as const) {
        if ((direction === 'out' ? from : to) !== wallet || (fee && direction === 'in')) continue
        const other = fee ? null : direction === 'out' ? to : from
        const type = fee
          ? 'fee'
          : from === to
            ? 'self'
            : from === ZERO
              ? 'mint'
              : to === ZERO
                ? 'burn'
                : 'transfer'
        const signed = direction === 'out' ? `-${value}` : value
        const id = [chain, content.hash, wallet, source, index, type, direction].join('|')
        rows.push({
          entry_id: createHash('sha256').update(id).digest('hex').slice(0, 32),
          wallet_address: wallet,
          wallet_label: label,
          entry_index: String(entry),
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
        })
        entry += 1
      }
    }
  }
  return rows
}

const ZERO = `0x${'0'.repeat(40)}`
const MOVES_NOTHING = ['DELEGATECALL', 'STATICCALL', 'CALLCODE']

/**
 * Movements of a transaction in ledger order: fee, native value, internal, ERC-20, ERC-721, ERC-1155. A failed transaction
 * has only the fee. Movements of 0 are omitted.
 */
function movementsOf(content: TransactionContent, facts: Facts, nativeSymbol: string | null): Movement[] {
  const coin = {
    asset_type: 'native',
    asset_address: null,
    asset_symbol: nativeSymbol,
    asset_decimals: '18',
    token_id: null,
  }
  const fact = parties(content)
  const fee = (BigInt(content.gasUsed) * BigInt(content.gasPrice)).toString()
  const all: Movement[] = [
    {
      source: 'transactions',
      index: '',
      fee: true,
      fact: { from_address: fact.from_address ?? null },
      asset: coin,
      value: fee,
    },
  ]
  if (content.status === '1') {
    all.push({ source: 'transactions', index: '', fact, asset: coin, value: content.value })
    for (const row of facts.internal)
      if (row.reverted === 'false' && !MOVES_NOTHING.includes(row.internal_type ?? ''))
        all.push({
          source: 'internal_transactions',
          index: row.internal_id ?? '',
          fact: row,
          asset: coin,
          value: row.value ?? '',
        })
    for (const row of facts.erc20) all.push(tokenMovement('erc20', row))
    for (const row of facts.erc721) all.push(tokenMovement('erc721', row))
    for (const row of facts.erc1155) all.push(tokenMovement('erc1155', row))
  }
  return all.filter(({ value }) => value !== '0')
}

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
