import { COIN_DECIMALS, isNft } from '../core/model/asset.ts'
import { chainOf } from '../core/model/chains.ts'
import { entryRulesOf } from '../core/model/entry-types.ts'
import { ExportError } from '../core/model/errors.ts'
import { UNKNOWN_INDEX } from '../core/model/item-key.ts'
import type { Coverage } from '../core/model/manifest.ts'
import { sha256 } from '../core/platform/sha256.ts'
import type { TextRows } from '../core/table/index.ts'
import { compareTexts } from '../ledger/balances/balance-sums.ts'
import { labelsOf } from '../ledger/balances/balances.ts'
import {
  type ChainWallets,
  NO_FINDINGS,
  type OpeningFindings,
  type OpeningOption,
  readOpening,
} from '../ledger/balances/read-opening.ts'
import type { AddressNames } from '../read/address-book.ts'
import type { Dataset } from '../read/dataset.ts'
import { type Asset, assetKey, type Movement } from './movement.ts'
import { type Contracts, withContract } from './names/contracts.ts'
import { safeText } from './names/names.ts'
import type { Period } from './options.ts'
import type { ConversionSource } from './sources.ts'
import type { WrittenExport } from './text-writer.ts'

/** Movements of one transaction after another. */
export type Transactions = AsyncGenerator<Movement[], void, void>

/** Streams the movements of an export within the period, grouped by transaction, in chain order. */
export async function* transactionsOf(
  { opened, contracts, onRow }: Pick<WrittenExport, 'opened' | 'contracts'> & RowObserver,
  { from, to }: Period,
): Transactions {
  let transaction: Movement[] = []
  for await (const rows of opened.stream('ledger', MOVEMENT_COLUMNS)) {
    for (const row of rows) {
      onRow?.(row)
      const movement = movementOf(row, contracts)
      if (movement.time < from || movement.time >= to) continue
      if (transaction.length > 0 && transaction[0]?.transaction !== movement.transaction) {
        yield transaction
        transaction = []
      }
      transaction.push(movement)
    }
  }
  if (transaction.length > 0) yield transaction
}

/** The ledger columns that a movement is made of. */
export const MOVEMENT_COLUMNS = [
  'block_timestamp',
  'transaction_hash',
  'chain_id',
  'entry_id',
  'wallet_address',
  'wallet_label',
  'entry_type',
  'direction',
  'counterparty_address',
  'counterparty_is_own',
  'asset_type',
  'asset_address',
  'asset_symbol',
  'asset_decimals',
  'token_id',
  'value',
  'method_name',
  'block_number',
  'transaction_index',
  'source',
] as const

export type MovementRow = Pick<TextRows['ledger'], (typeof MOVEMENT_COLUMNS)[number]>

type RowObserver = {
  /** Called with each row of the ledger, in chain order, for what is made of rows in the same pass. @default nothing */
  onRow?: ((row: MovementRow) => void) | undefined
}

/** Returns the movement of a ledger row. Symbol and, if the row has none, decimals are those of the contract, if it is in `contracts`. */
export function movementOf(row: MovementRow, contracts: Contracts): Movement {
  const type = row.asset_type as Asset['type']
  const asset: Asset = {
    type,
    address: row.asset_address,
    symbol: row.asset_symbol,
    digits: undefined,
    ticker: undefined,
    decimals: decimalsOf(type, row.asset_decimals),
    tokenId: row.token_id,
  }
  const named = withContract(asset, contracts)
  const entryType = row.entry_type as Movement['type']
  const hasOwn = row.asset_decimals !== null && named.decimals !== asset.decimals
  return {
    time: row.block_timestamp,
    transaction: row.transaction_hash,
    chain: row.chain_id,
    entry: row.entry_id,
    wallet: row.wallet_address,
    label: row.wallet_label,
    type: entryType,
    isOut: row.direction === 'out',
    counterparty: row.counterparty_address,
    isOwn: row.counterparty_is_own === 'true' && entryRulesOf(entryType).countsAs !== 'wrap',
    asset: hasOwn ? { ...named, decimals: asset.decimals } : named,
    value: BigInt(row.value.startsWith('-') ? row.value.slice(1) : row.value),
    method: row.method_name,
    block: row.block_number,
    index: row.transaction_index ?? String(UNKNOWN_INDEX),
    source: row.source,
  }
}

/** The decimals of a row. ERC-1155 amounts are in whole units unless the metadata of the token defines decimals. */
function decimalsOf(type: Asset['type'], decimals: string | null): number | null {
  if (decimals !== null) return Number(decimals)
  return type === 'erc1155' ? 0 : null
}

/** An export, and the opening balances that precede its transactions. */
type OpenedSource = ConversionSource & RowObserver & { opening: readonly Movement[] }

/**
 * Streams the movements of exports within a period, grouped by transaction, without spam, which is passed to `onSpam`. The
 * transactions of several exports are merged by time, then by chain. Each chain keeps its order. A transaction that
 * several exports of a chain contain is yielded once, with the movements of all of them, sorted by wallet.
 */
export function streamTransactions(
  sources: readonly OpenedSource[],
  period: Period,
  onSpam: (movement: Movement, reason: string) => void,
): Transactions {
  const chains = new Map<string, Transactions[]>()
  for (const source of sources) {
    const ofChain = sources.filter(({ chain }) => chain === source.chain)
    const hasSeveralChains = ofChain.length < sources.length
    const transactions = describedTransactions(source, period, {
      chainName: hasSeveralChains ? safeText(chainOf(source.chain)?.name ?? source.chain) : undefined,
      ownWallets: ownWalletsOf(source.chain, source.exports),
      onSpam,
    })
    chains.set(source.chain, [...(chains.get(source.chain) ?? []), transactions])
  }
  const streams = [...chains.values()].flatMap((ofChain) =>
    ofChain.length === 1 ? ofChain : uniteTransactions(mergeStreams(ofChain, comparePositions)),
  )
  return streams.length === 1 && streams[0] !== undefined ? streams[0] : mergeStreams(streams, compareTimes)
}

type Description = {
  /** Set only if there are several chains. */
  chainName: string | undefined
  /** Set only if there are several exports of the chain. */
  ownWallets: OwnWallets | undefined
  onSpam: (movement: Movement, reason: string) => void
}

async function* describedTransactions(
  source: OpenedSource,
  period: Period,
  { chainName, ownWallets, onSpam }: Description,
): Transactions {
  async function* withOpening(): Transactions {
    if (source.opening.length > 0) yield [...source.opening]
    yield* transactionsOf(source, period)
  }
  for await (const movements of withOpening()) {
    nameParties(movements, source.names)
    if (chainName !== undefined) for (const movement of movements) movement.chainName = chainName
    if (ownWallets !== undefined) markOwnTransfers(movements, ownWallets)
    const included = movements.filter((movement) => {
      const reason = source.spam.get(movement.asset.address ?? '')
      if (reason !== undefined) onSpam(movement, reason)
      return reason === undefined
    })
    if (included.length > 0) yield included
  }
}

/** Sets the names of counterparties, and the labels of wallets that have none in the tables. */
export function nameParties(movements: readonly Movement[], names: AddressNames): void {
  if (names.size === 0) return
  for (const movement of movements) {
    movement.label ??= names.get(movement.wallet) ?? null
    movement.counterpartyName = names.get(movement.counterparty ?? '')
  }
}

/** The wallets of several exports of one chain, by address, with the blocks that these contain of them. */
export type OwnWallets = ReadonlyMap<string, Pick<Coverage, 'fromBlock' | 'toBlock'>>

/** Returns the wallets of all exports of a chain; undefined if there is only one, whose ledger knows its wallets. */
export function ownWalletsOf(chain: string, exports: readonly ChainWallets[]): OwnWallets | undefined {
  const ofChain = exports.filter((other) => other.chain === chain)
  if (ofChain.length === 1) return undefined
  return new Map(ofChain.flatMap(({ coverage }) => coverage.map((wallet) => [wallet.address, wallet])))
}

/**
 * Marks transfers between wallets of several exports, which the ledgers of these exports do not know to be own. If the other
 * wallet's export does not contain the block, it has no row of the transfer, which is then one to or from outside.
 */
export function markOwnTransfers(movements: readonly Movement[], wallets: OwnWallets): void {
  for (const movement of movements) {
    const range = movement.type === 'transfer' ? wallets.get(movement.counterparty ?? '') : undefined
    const block = Number(movement.block)
    if (range !== undefined && block >= range.fromBlock && block < range.toBlock) movement.isOwn = true
  }
}

type Compare = (a: Movement, b: Movement) => number

/** Compares non-negative integers. Other texts have a fixed order too. */
const compareIntegers = (a: string, b: string) => a.length - b.length || compareTexts(a, b)

const compareTimes: Compare = (a, b) => compareTexts(a.time, b.time) || compareIntegers(a.chain, b.chain)

/** The order of the ledger. */
const comparePositions: Compare = (a, b) =>
  compareIntegers(a.block, b.block) ||
  compareIntegers(a.index, b.index) ||
  compareTexts(a.transaction, b.transaction)

type Head = { first: Movement; movements: Movement[]; stream: Transactions }

/** Merges sorted streams, one per export, so few. Of equal transactions, that of the earlier stream comes first. */
async function* mergeStreams(streams: readonly Transactions[], compare: Compare): Transactions {
  const heads: (Head | undefined)[] = []
  try {
    for (const stream of streams) heads.push(await nextHead(stream))
    for (;;) {
      const [head] = heads.filter((stream) => stream !== undefined).sort((a, b) => compare(a.first, b.first))
      if (head === undefined) return
      yield head.movements
      heads[heads.indexOf(head)] = await nextHead(head.stream)
    }
  } finally {
    for (const stream of streams) await stream.return()
  }
}

async function nextHead(stream: Transactions): Promise<Head | undefined> {
  const { value: movements = [] } = await stream.next()
  const [first] = movements
  return first && { first, movements, stream }
}

/** Joins consecutive parts of the same transaction. */
async function* uniteTransactions(parts: Transactions): Transactions {
  let united: Movement[] = []
  for await (const movements of parts) {
    if (united.length > 0 && united[0]?.transaction !== movements[0]?.transaction) {
      yield united
      united = []
    }
    united = [...united, ...movements].sort((a, b) => compareTexts(a.wallet, b.wallet))
  }
  if (united.length > 0) yield united
}

/** The method of opening balances, by which labels can assign a type to them. */
const METHOD = 'opening balance'

/** Opening balances as movements, by wallet. */
type OpeningMovements = { movements: Movement[]; findings: OpeningFindings }

/**
 * Reads the opening balances of an export, and returns them as movements of the second before its first row. They
 * belong to the period that contains this row, so that of several converted periods only one has them. Throws USAGE
 * if a file of opening balances is invalid, or has balances of an export without rows.
 */
export async function readOpeningMovements(
  option: OpeningOption,
  { opened, contracts, exports }: Pick<ConversionSource, 'opened' | 'contracts' | 'exports'>,
  period: Period,
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

/** Reads the first row of a ledger; undefined if there is none. */
export async function readFirstRow(opened: Dataset) {
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
