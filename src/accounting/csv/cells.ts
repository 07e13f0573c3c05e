import { COIN_DECIMALS } from '../../core/model/asset.ts'
import { needsQuotes, quoteCsv } from '../../core/platform/csv-text.ts'
import { shiftDecimal } from '../../core/platform/decimal.ts'
import { memoizeLast } from '../../core/platform/memoize-last.ts'
import { fiatValueOf, impliedPrice } from '../../ledger/prices/prices.ts'
import { withDecimalPoint } from '../format-amount.ts'
import type { ImportRow, Leg } from '../import-rows.ts'
import type { Movement } from '../movement.ts'
import {
  caipName,
  collectionName,
  methodName,
  safeText,
  tickerName,
  type WalletNameOf,
  withoutParameters,
} from '../names/names.ts'
import type { PlaceholderOf } from '../names/placeholders.ts'
import type { ConversionPrices } from '../text-writer.ts'
import type { DateFormat, Preset, Role } from './preset.ts'

/** The context that cells need in addition to the row. */
export type CellContext = {
  preset: Preset
  /** The user's name for the chain, if given. */
  chainName: string | undefined
  /** Returns the placeholder of an asset, for formats with placeholders. */
  placeholderOf: PlaceholderOf
  walletNameOf: WalletNameOf
  prices: ConversionPrices | undefined
  /** Formats a time of the tables for the preset. */
  instant: (time: string) => string
}

/** The formatted amounts of a row ('' if absent), and the prices of one whole unit if they are known and needed. */
export type Amounts = {
  in: string
  out: string
  fee: string
  inPrice: string | undefined
  outPrice: string | undefined
  feePrice: string | undefined
}

type CellOf = (row: ImportRow, amounts: Amounts, context: CellContext) => string

/** Whether a fee goes into the fee columns of the format. The sent amount of its row is then 0. */
const usesFeeColumns = ({ kind }: ImportRow, { preset }: CellContext) =>
  kind === 'fee' && preset.fee === 'fee columns'

const DIRECTIONS = { in: 'Receive', out: 'Send', fee: 'Send', swap: 'Trade' } as const

/**
 * Formats free text as a CSV field. Formulas are not neutralized with a leading `'`, which importers would read as part
 * of the text; `safeText` has already removed formula characters from untrusted text.
 */
const csvField = (text: string) => (needsQuotes(text) ? quoteCsv(text) : text)

const unixSeconds = memoizeLast((time) => String(Math.floor(Date.parse(time) / 1_000)))

/** The content of a cell by its role, as a CSV field. */
export const CELLS: Readonly<Record<Role, CellOf>> = {
  empty: () => '',
  zero: () => '0',
  date: ({ movements: [{ time }] }, _, { instant }) => instant(time),
  unixTime: ({ movements: [{ time }] }) => unixSeconds(time),
  block: ({ movements: [{ block }] }) => block,
  type: typeOf,
  direction: ({ kind }) => DIRECTIONS[kind],
  amount: (_, amounts) => amounts.in || amounts.out,
  asset: (row, _, context) => assetNameOf(row.in ?? row.out, row, context),
  quoteAmount: ({ kind }, { out }) => (kind === 'swap' ? out : ''),
  quoteAsset: (row, _, context) => (row.kind === 'swap' ? assetNameOf(row.out, row, context) : ''),
  inAmount: (_, amounts) => amounts.in,
  inAsset: (row, _, context) => assetNameOf(row.in, row, context),
  outAmount: (row, { out }, context) => (usesFeeColumns(row, context) ? '0' : out),
  outAsset: (row, _, context) => assetNameOf(row.out, row, context),
  feeAmount: (row, { out, fee }, context) => (usesFeeColumns(row, context) ? out : fee),
  feeAsset: (row, { fee }, context) =>
    usesFeeColumns(row, context)
      ? assetNameOf(row.out, row, context)
      : fee === ''
        ? ''
        : assetNameOf(row.fee, row, context),
  inAmountOrZero: (_, amounts) => amounts.in || '0',
  outAmountOrZero: (row, { out }, context) => (usesFeeColumns(row, context) ? '0' : out || '0'),
  feeAmountOrZero: (row, { out, fee }, context) => (usesFeeColumns(row, context) ? out : fee || '0'),
  worth: (row, amounts, context) => fiatValueOfRow(row, amounts, context),
  worthCurrency: (row, amounts, context) =>
    fiatValueOfRow(row, amounts, context) === '' ? '' : (context.prices?.currency ?? ''),
  inWorth: ({ in: received }, { inPrice }, context) => fiatValueOfLeg(received, inPrice, context),
  outWorth: (row, { outPrice }, context) =>
    usesFeeColumns(row, context) ? '' : fiatValueOfLeg(row.out, outPrice, context),
  feeWorth: (row, { outPrice, feePrice }, context) =>
    usesFeeColumns(row, context)
      ? fiatValueOfLeg(row.out, outPrice, context)
      : fiatValueOfLeg(row.fee, feePrice, context),
  price: (row, amounts) => priceOfRow(row, amounts) ?? '',
  priceCurrency: (row, amounts, { prices }) =>
    priceOfRow(row, amounts) === undefined ? '' : (prices?.currency ?? ''),
  contract: ({ in: received, out: sent }) => (received ?? sent)?.asset.address ?? '',
  inContract: (row) => row.in?.asset.address ?? '',
  outContract: (row) => row.out?.asset.address ?? '',
  collection: ({ in: received, out: sent }) => collectionName((received ?? sent)?.asset),
  symbol: ({ in: received, out: sent }) => csvField(safeText((received ?? sent)?.asset.symbol ?? '')),
  tokenId: ({ in: received, out: sent }) => (received ?? sent)?.asset.tokenId ?? '',
  tokenType: ({ in: received, out: sent }) => ((received ?? sent)?.asset.type === 'erc721' ? '721' : '1155'),
  from: ({ kind, movements: [movement] }) => (kind === 'swap' ? movement.wallet : partiesOf(movement).from),
  to: ({ kind, movements: [movement] }) => (kind === 'swap' ? movement.wallet : partiesOf(movement).to),
  fromWallet: ({ movements: [movement] }, _, context) =>
    movement.isOut ? walletName(movement, context) : counterpartyName(movement, context),
  toWallet: ({ movements: [movement] }, _, context) =>
    movement.isOut ? counterpartyName(movement, context) : walletName(movement, context),
  wallet: walletOf,
  holder: () => 'me',
  chain: ({ movements: [{ chain }] }, _, { preset, chainName }) =>
    csvField(chainName ?? preset.chainNames?.[chain] ?? preset.chainNames?.other ?? chain),
  hash: ({ movements: [{ transaction }] }) => transaction,
  id: ({ movements: [{ entry }] }) => entry,
  sender: ({ transaction }) => transaction?.sender ?? '',
  receiver: ({ transaction }) => transaction?.receiver ?? '',
  coins: ({ transaction }) => shiftDecimal(String(transaction?.value ?? 0n), COIN_DECIMALS) ?? '',
  failure: ({ transaction }) => (transaction?.isFailed === true ? 'Error(0)' : ''),
  method: ({ movements: [{ method }] }) => csvField(withoutParameters(safeText(method ?? ''))),
  note: noteOf,
}

function typeOf(row: ImportRow, _: Amounts, { preset }: CellContext): string {
  const { kind, isOwn, isWrap, label, poolMove, income } = row
  const { types } = preset
  if (label !== undefined) return csvField(label)
  if (isWrap) return csvField(types.wrap ?? '')
  const pool = poolMove && types.pool?.[poolMove]
  if (pool !== undefined) return csvField(pool)
  const claimed = income === undefined || income === 'declared' ? undefined : types.income?.[income]
  if (claimed !== undefined) return csvField(claimed)
  if (kind === 'in' && row.movements[0].type === 'opening') return types.opening ?? types.in ?? ''
  const own = kind === 'in' ? types.ownIn : kind === 'out' ? types.ownOut : undefined
  return (isOwn ? own : undefined) ?? types[kind] ?? ''
}

function walletOf(row: ImportRow, amounts: Amounts, context: CellContext): string {
  const { walletOfType } = context.preset
  const required = walletOfType?.[typeOf(row, amounts, context)]
  return required ?? walletName(row.movements[0], context)
}

/** The name of an asset in the file; '' without an amount. */
export function assetNameOf(
  leg: Leg | undefined,
  { movements }: ImportRow,
  { preset, placeholderOf }: CellContext,
): string {
  if (leg === undefined) return ''
  if (preset.naming === 'caip') return caipName(leg.asset, movements[0].chain, preset.coinIds ?? {})
  return preset.naming === 'placeholder'
    ? placeholderOf(leg.asset, movements[0].chain)
    : tickerName(leg.asset)
}

/** The fiat value of a row: the value of the received amount or, if that has no price, of the sent amount. */
function fiatValueOfRow(row: ImportRow, { inPrice, outPrice }: Amounts, context: CellContext): string {
  return fiatValueOfLeg(row.in, inPrice, context) || fiatValueOfLeg(row.out, outPrice, context)
}

function fiatValueOfLeg(leg: Leg | undefined, price: string | undefined, { preset }: CellContext): string {
  if (leg === undefined || price === undefined || leg.asset.decimals === null) return ''
  return withDecimalPoint(fiatValueOf(leg.value, leg.asset.decimals, price), preset.numbers)
}

/**
 * The price of a row: that of the received asset, or of the sent asset if nothing was received. If the received asset
 * of a swap has no price, it is implied by the value of the sent amount.
 */
export function priceOfRow(
  { in: received, out: sent }: ImportRow,
  { inPrice, outPrice }: Amounts,
): string | undefined {
  if (received === undefined || inPrice !== undefined) return received === undefined ? outPrice : inPrice
  const [receivedDecimals, sentDecimals] = [received.asset.decimals, sent?.asset.decimals ?? null]
  if (sent === undefined || outPrice === undefined || receivedDecimals === null || sentDecimals === null)
    return undefined
  return impliedPrice(
    { value: received.value, decimals: receivedDecimals },
    { value: sent.value, decimals: sentDecimals },
    outPrice,
  )
}

const walletName = ({ wallet, label }: Movement, { walletNameOf }: CellContext) =>
  csvField(walletNameOf(wallet, label))

/** The name of a counterparty that is a wallet of the job. */
const counterpartyName = (
  { counterparty, counterpartyName: name }: Movement,
  { walletNameOf }: CellContext,
) => csvField(walletNameOf(counterparty ?? '', name))

function partiesOf({ wallet, counterparty, isOut }: Movement): { from: string; to: string } {
  const other = counterparty ?? ''
  return isOut ? { from: wallet, to: other } : { from: other, to: wallet }
}

/** A note with the details that other columns may lack: contracts, counterparty, method, transaction and ledger entry. */
function noteOf(row: ImportRow, amounts: Amounts, context: CellContext): string {
  const { kind, isOwn, isWrap, movements, in: received, out: sent, mergedRows } = row
  const [movement] = movements
  const { type, chainName, counterparty, via, method, entry, transaction, isOut } = movement
  const party = safeText(movement.counterpartyName ?? '')
  let note: string = kind !== 'swap' ? type : isWrap ? 'wrap' : 'swap'
  if (isOwn) note += ' / between own wallets'
  const [sentContract, receivedContract] = [sent?.asset.address ?? null, received?.asset.address ?? null]
  if (sentContract !== null) note += ` / contract ${sentContract}`
  if (receivedContract !== null && receivedContract !== sentContract)
    note += ` / contract ${receivedContract}`
  if (counterparty !== null && kind !== 'swap')
    note += ` / ${isOut ? 'to' : 'from'} ${party === '' ? counterparty : `${party} (${counterparty})`}`
  const isNet = movements.filter((other) => other.type !== 'fee').length > 1 && mergedRows === undefined
  if (kind !== 'swap' && isNet) note += ' / net of refunds'
  if (via) note += ` / via ${via}`
  const called = method === null ? '' : methodName(method)
  if (method !== null) note += ` / method ${called}`
  if (chainName !== undefined) note += ` / chain ${chainName}`
  if (transaction !== '') note += ` / tx ${transaction}`
  note += ` / entry ${entry}`
  if (mergedRows !== undefined) note += sumNote(mergedRows, amounts, context)
  // Only names and methods can contain commas, and `safeText` has removed their quotes.
  return needsQuotes(called) || needsQuotes(party) ? `"${note}"` : note
}

/** Names the types of merged rows if they differ, because a row has only one type. */
function sumNote(merged: readonly ImportRow[], amounts: Amounts, context: CellContext): string {
  const types = new Set(merged.map((row) => typeOf(row, amounts, context) || 'none'))
  const note = ` / sum of ${merged.length} equal lines`
  return types.size === 1 ? note : `${note} / types ${[...types].join(' and ')}`
}

/** Formats a time of the tables, such as 2023-11-14T22:46:40.000Z. */
export function formatInstant(time: string, format: DateFormat): string {
  if (format === 'milliseconds') return String(Date.parse(time))
  const [date, year, month, day] = [time.slice(0, 10), time.slice(0, 4), time.slice(5, 7), time.slice(8, 10)]
  return format
    .replace('YYYY-MM-DD', date)
    .replace('MM/DD/YYYY', `${month}/${day}/${year}`)
    .replace('DD.MM.YYYY', `${day}.${month}.${year}`)
    .replace('HH:mm:ss', time.slice(11, 19))
}
