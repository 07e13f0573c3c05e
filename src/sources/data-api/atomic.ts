import { atomicNetworkOf, blockchainIdOf, chainIdOf } from '../../core/model/chains.ts'
import type { ItemKey } from '../../core/model/item-key.ts'
import { type ByteText, toLowerCase } from '../../core/platform/byte-text.ts'
import { shiftDecimal } from '../../core/platform/decimal.ts'
import { previewJson } from '../../core/platform/json-text.ts'
import type { Cells, Prefix } from '../../core/table/index.ts'
import {
  type Fields,
  INT32_MAX,
  int32At,
  listAt,
  objectAt,
  optionalObjectAt,
  RejectError,
  requiredLower,
  requiredText,
  requiredU64,
  textAt,
  timesOf,
  u256At,
  wholeNumber,
} from '../fields.ts'
import type { ViewContext } from '../source.ts'
import type { AtomicView } from '../view.ts'

type Row = Cells<'atomic_transactions'>

/** The kinds of atomic transactions, with the list of entries that the C-Chain side of each has. */
const KINDS: ReadonlyMap<unknown, { type: 'import' | 'export'; list: string; party: string }> = new Map([
  ['ImportTx', { type: 'import', list: 'evmOutputs', party: 'toAddress' }],
  ['ExportTx', { type: 'export', list: 'evmInputs', party: 'fromAddress' }],
])

/** Decimals of AVAX on the X-Chain and the P-Chain, and in atomic transactions. */
const COIN_DECIMALS = 9

/**
 * Reads an atomic transaction, or returns the reason why it is invalid. Invalid inputs and outputs are passed to
 * `onBadEntry`; the rest is used.
 */
export function readAtomic(item: unknown, context: ViewContext): AtomicView | string {
  if (!isAtomicItem(item)) return 'it is not an atomic transaction'
  try {
    return readFields(item, context)
  } catch (error) {
    if (error instanceof RejectError) return error.message
    throw error
  }
}

function readFields(item: Fields, { chain, onBadEntry }: ViewContext): AtomicView {
  const kind = KINDS.get(item.txType)
  if (kind === undefined) throw new RejectError('txType is neither ImportTx nor ExportTx')
  const coinAsset = atomicNetworkOf(chain)?.coinAsset ?? ''
  const common = {
    transfer_type: kind.type,
    source_chain: textAt(item, 'sourceChain'),
    destination_chain: textAt(item, 'destinationChain'),
    burned_value: burnedValueOf(item, coinAsset),
  }
  const entries = listAt(item, kind.list).flatMap((entry, at): Row[] => {
    try {
      return [{ transfer_ordinal: at, ...common, ...readEntry(entry, { ...kind, coinAsset }) }]
    } catch (error) {
      if (!(error instanceof RejectError)) throw error
      onBadEntry(kind.list, entry, error.message)
      return []
    }
  })
  return { prefix: readPrefix(item, chain), entries }
}

function readPrefix(item: Fields, chain: string): Prefix {
  const key = keyOfAtomic(item, chain)
  if (typeof key === 'string') throw new RejectError(key)
  return {
    chain_id: chainIdOf(chain),
    block_number: key.block,
    block_hash: idText(requiredText(item, 'blockHash')),
    block_timestamp: key.timeMs,
    transaction_hash: key.hash,
    transaction_index: key.index,
  }
}

type EntryContext = { type: 'import' | 'export'; party: string; coinAsset: string }

/** Reads an input or output. Its party, asset and amount are required, because the ledger depends on them. */
function readEntry(
  entry: unknown,
  { type, party, coinAsset }: EntryContext,
): Omit<Row, 'transfer_ordinal' | 'transfer_type' | 'source_chain' | 'destination_chain' | 'burned_value'> {
  if (typeof entry !== 'object' || entry === null) throw new RejectError('it is not an object')
  const fields = entry as Fields
  const address = requiredLower(fields, party)
  const asset = objectAt(fields, 'asset')
  const assetId = requiredText(asset, 'assetId')
  const value = requiredU64(asset, 'amount')
  const decimals = assetId === coinAsset ? COIN_DECIMALS : decimalsAt(asset)
  return {
    from_address: type === 'export' ? address : null,
    to_address: type === 'import' ? address : null,
    asset_id: assetId,
    asset_name: textAt(asset, 'name'),
    asset_symbol: textAt(asset, 'symbol'),
    asset_decimals: decimals,
    value,
    amount: decimals === null ? null : shiftDecimal(value, decimals),
  }
}

function decimalsAt(asset: Fields): number | null {
  const decimals = int32At(asset, 'denomination')
  return decimals !== null && decimals >= 0 && decimals <= 255 ? decimals : null
}

/** Unlocked minus created AVAX, in nAVAX; null if the lists are incomplete or state a negative difference. */
function burnedValueOf(item: Fields, coinAsset: string): string | null {
  const unlocked = sumOf(item.amountUnlocked, coinAsset)
  const created = sumOf(item.amountCreated, coinAsset)
  if (unlocked === undefined || created === undefined || unlocked < created) return null
  return (unlocked - created).toString()
}

function sumOf(amounts: unknown, coinAsset: string): bigint | undefined {
  if (!Array.isArray(amounts)) return undefined
  let sum = 0n
  for (const one of amounts) {
    const asset = optionalObjectAt({ one }, 'one')
    const amount = u256At(asset, 'amount')
    if (typeof asset.assetId !== 'string' || amount === null) return undefined
    if (asset.assetId === coinAsset) sum += BigInt(amount)
  }
  return sum
}

/**
 * Position of every atomic transaction in its block: the service reports none, and they take effect after the EVM
 * transactions of the block.
 */
const ATOMIC_INDEX = INT32_MAX

const ATOMIC_FIELDS = ['blockHeight', 'txType', 'evmInputs', 'evmOutputs', 'sourceChain', 'destinationChain']

/** Whether an item has the fields of an atomic transaction. Items of a wallet listing have none of them. */
export function isAtomicItem(item: unknown): item is Fields {
  return typeof item === 'object' && item !== null && ATOMIC_FIELDS.some((name) => name in item)
}

/**
 * Reads the key of an atomic transaction, or returns the reason why it has none.
 *
 * @param chain expected chain; items of other chains are rejected. @default any
 */
export function keyOfAtomic(item: Fields, chain?: string): ItemKey | string {
  const { blockHeight, txHash, timestamp } = item
  const wrongChain = chain === undefined ? undefined : wrongChainOf(item, chain)
  if (wrongChain !== undefined) return wrongChain
  const block = wholeNumber(blockHeight)
  if (block === undefined) return `blockHeight is not a block number: ${previewJson(blockHeight)}`
  if (typeof txHash !== 'string' || txHash === '') return `txHash is missing: ${previewJson(txHash)}`
  const times = timesOf(wholeNumber(timestamp), undefined)
  if (times === undefined) return `timestamp is not a time: ${previewJson(timestamp)}`
  return { block, index: ATOMIC_INDEX, hash: idText(txHash), ...times }
}

/** An id or hash. The letter case of hex digits has no meaning; that of other ids (base 58) has. */
function idText(id: ByteText): ByteText {
  return /^0x/i.test(id) ? toLowerCase(id) : id
}

const BLOCKCHAIN_ID = /^[1-9A-HJ-NP-Za-km-z]{30,60}$/

/** The reason for rejecting a transaction of another C-Chain. Names of chains, such as `c-chain`, are not compared. */
function wrongChainOf({ txType, ...item }: Fields, chain: string) {
  const expected = blockchainIdOf(chain)
  const side = txType === 'ExportTx' ? 'sourceChain' : 'destinationChain'
  const found = item[side]
  if (expected === undefined || typeof found !== 'string' || !BLOCKCHAIN_ID.test(found)) return undefined
  return found === expected ? undefined : `${side} is not ${expected}: ${previewJson(found)}`
}
