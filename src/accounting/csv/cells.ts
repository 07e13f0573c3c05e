import { COIN_DECIMALS } from '../../core/model/asset.ts'
import { needsQuotes, quoteCsv } from '../../core/platform/csv-text.ts'
import { shiftDecimal } from '../../core/platform/decimal.ts'
import { keepingLast } from '../../core/platform/memoize-last.ts'
import { priceOfGot, worthOf } from '../../ledger/prices/fiat-value.ts'
import type { Prices } from '../../ledger/prices/prices.ts'
import { withPoint } from '../format-amount.ts'
import type { Line, Side } from '../import-rows.ts'
import type { Movement } from '../movement.ts'
import { caipName, collectionName, methodName, safeText, tickerName } from '../names/asset-name.ts'
import type { PlaceholderOf } from '../names/placeholders.ts'
import type { Preset, Role } from './preset.ts'

/** What cells are made with, beside the line. */
export type CellContext = {
  preset: Preset
  /** What the chain is called, where the user says so. */
  chainName: string | undefined
  /** Names that are kept in a file, for programs that number unknown assets. */
  placeholderOf: PlaceholderOf
  /** What wallets of the job are called, by address; absent where they have no label. */
  walletNames: ReadonlyMap<string, string>
  prices: Prices | undefined
  instant: (time: string) => string
}

/** The amounts of a line as its format has them, and the prices of one whole unit, where they are known and wanted. */
export type Amounts = {
  in: string
  out: string
  fee: string
  inPrice: string | undefined
  outPrice: string | undefined
}

type CellOf = (line: Line, amounts: Amounts, context: CellContext) => string

/** A fee stands in columns of its own in some formats: then nothing was sold of it. */
const isFeeApart = ({ kind }: Line, { preset }: CellContext) =>
  kind === 'fee' && preset.fee === 'in the fee columns, nothing sold'

const WAYS = { in: 'Receive', out: 'Send', fee: 'Send', swap: 'Trade' } as const

/**
 * Free text as a field of CSV. Importers would take a `'` before a formula for text: what could be one was taken out of
 * strangers' text before.
 */
const field = (text: string) => (needsQuotes(text) ? quoteCsv(text) : text)

const unixSeconds = keepingLast((time) => String(Math.floor(Date.parse(time) / 1_000)))

/** What stands in a cell of each role, as a field of CSV. */
export const CELLS: Readonly<Record<Role, CellOf>> = {
  empty: () => '',
  zero: () => '0',
  date: ({ movements: [{ time }] }, _, { instant }) => instant(time),
  unixTime: ({ movements: [{ time }] }) => unixSeconds(time),
  block: ({ movements: [{ block }] }) => block,
  type: typeOf,
  way: ({ kind }) => WAYS[kind],
  amount: (_, amounts) => amounts.in || amounts.out,
  asset: (line, _, context) => nameOf(line.in ?? line.out, line, context),
  quoteAmount: ({ kind }, { out }) => (kind === 'swap' ? out : ''),
  quoteAsset: (line, _, context) => (line.kind === 'swap' ? nameOf(line.out, line, context) : ''),
  inAmount: (_, amounts) => amounts.in,
  inAsset: (line, _, context) => nameOf(line.in, line, context),
  outAmount: (line, { out }, context) => (isFeeApart(line, context) ? '0' : out),
  outAsset: (line, _, context) => nameOf(line.out, line, context),
  feeAmount: (line, { out, fee }, context) => (isFeeApart(line, context) ? out : fee),
  feeAsset: (line, _, context) => (isFeeApart(line, context) ? nameOf(line.out, line, context) : ''),
  inAmountOrZero: (_, amounts) => amounts.in || '0',
  outAmountOrZero: (line, { out }, context) => (isFeeApart(line, context) ? '0' : out || '0'),
  feeAmountOrZero: (line, { out, fee }, context) => (isFeeApart(line, context) ? out : fee || '0'),
  worth: (line, amounts, context) => worthOfLine(line, amounts, context),
  worthCurrency: (line, amounts, context) =>
    worthOfLine(line, amounts, context) === '' ? '' : (context.prices?.currency ?? ''),
  inWorth: ({ in: came }, { inPrice }, context) => worthOfSide(came, inPrice, context),
  outWorth: (line, { outPrice }, context) =>
    isFeeApart(line, context) ? '' : worthOfSide(line.out, outPrice, context),
  feeWorth: (line, { outPrice }, context) =>
    isFeeApart(line, context) ? worthOfSide(line.out, outPrice, context) : '',
  price: (line, amounts) => priceOfLine(line, amounts) ?? '',
  priceCurrency: (line, amounts, { prices }) =>
    priceOfLine(line, amounts) === undefined ? '' : (prices?.currency ?? ''),
  contract: ({ in: came, out: gone }) => (came ?? gone)?.asset.address ?? '',
  inContract: (line) => line.in?.asset.address ?? '',
  outContract: (line) => line.out?.asset.address ?? '',
  collection: ({ in: came, out: gone }) => collectionName((came ?? gone)?.asset),
  symbol: ({ in: came, out: gone }) => field(safeText((came ?? gone)?.asset.symbol ?? '')),
  tokenId: ({ in: came, out: gone }) => (came ?? gone)?.asset.tokenId ?? '',
  tokenType: ({ in: came, out: gone }) => ((came ?? gone)?.asset.type === 'erc721' ? '721' : '1155'),
  from: ({ kind, movements: [movement] }) => (kind === 'swap' ? movement.wallet : partiesOf(movement).from),
  to: ({ kind, movements: [movement] }) => (kind === 'swap' ? movement.wallet : partiesOf(movement).to),
  fromWallet: ({ movements: [movement] }, _, context) => walletName(partiesOf(movement).from, context),
  toWallet: ({ movements: [movement] }, _, context) => walletName(partiesOf(movement).to, context),
  wallet: walletOf,
  holder: () => 'me',
  chain: ({ movements: [{ chain }] }, _, { preset, chainName }) =>
    field(chainName ?? preset.chainNames?.[chain] ?? preset.chainNames?.other ?? chain),
  hash: ({ movements: [{ transaction }] }) => transaction,
  id: ({ movements: [{ entry }] }) => entry,
  sender: ({ transaction }) => transaction?.sender ?? '',
  receiver: ({ transaction }) => transaction?.receiver ?? '',
  coins: ({ transaction }) => shiftDecimal(String(transaction?.value ?? 0n), COIN_DECIMALS) ?? '',
  failure: ({ transaction }) => (transaction?.isFailed === true ? 'Error(0)' : ''),
  method: ({ movements: [{ method }] }) => field(safeText(method ?? '').replace(/\(.*/, '')),
  note: noteOf,
}

function typeOf(line: Line, _: Amounts, { preset }: CellContext): string {
  const { kind, isOwn, label } = line
  const { types } = preset
  if (label !== undefined) return field(label)
  const own = kind === 'in' ? types.ownIn : kind === 'out' ? types.ownOut : undefined
  return (isOwn ? own : undefined) ?? types[kind] ?? ''
}

function walletOf(line: Line, amounts: Amounts, context: CellContext): string {
  const { walletOfType } = context.preset
  const [{ wallet, label }] = line.movements
  const demanded = walletOfType?.[typeOf(line, amounts, context)]
  // Manifests of older versions have no labels.
  return demanded ?? field(context.walletNames.get(wallet) ?? (safeText(label ?? '') || wallet))
}

function nameOf(side: Side | undefined, { movements }: Line, { preset, placeholderOf }: CellContext): string {
  if (side === undefined) return ''
  if (preset.naming === 'caip') return caipName(side.asset, movements[0].chain)
  return preset.naming === 'placeholder'
    ? placeholderOf(side.asset, movements[0].chain)
    : tickerName(side.asset)
}

/** What came in is worth what the line is worth; where it has no price, what went out for it. */
function worthOfLine(line: Line, { inPrice, outPrice }: Amounts, context: CellContext): string {
  return worthOfSide(line.in, inPrice, context) || worthOfSide(line.out, outPrice, context)
}

function worthOfSide(side: Side | undefined, price: string | undefined, { preset }: CellContext): string {
  if (side === undefined || price === undefined || side.asset.decimals === null) return ''
  return withPoint(worthOf(side.value, side.asset.decimals, price), preset.numbers)
}

/** The price of what came in, or of what went out alone; where what came in has none, what went out for it makes one. */
export function priceOfLine(
  { in: came, out: gone }: Line,
  { inPrice, outPrice }: Amounts,
): string | undefined {
  if (came === undefined || inPrice !== undefined) return came === undefined ? outPrice : inPrice
  const [got, given] = [came.asset.decimals, gone?.asset.decimals ?? null]
  if (gone === undefined || outPrice === undefined || got === null || given === null) return undefined
  return priceOfGot({ value: came.value, decimals: got }, { value: gone.value, decimals: given }, outPrice)
}

const walletName = (address: string, { walletNames }: CellContext) =>
  field(walletNames.get(address) ?? address)

function partiesOf({ wallet, counterparty, isOut }: Movement): { from: string; to: string } {
  const other = counterparty ?? ''
  return isOut ? { from: wallet, to: other } : { from: other, to: wallet }
}

/** What the other columns do not say: contracts, the other party, the method, the entry of the ledger. */
function noteOf({ kind, isOwn, movements, in: came, out: gone }: Line): string {
  const [movement] = movements
  const { type, counterparty, method, entry, transaction, isOut } = movement
  let note: string = kind === 'swap' ? 'swap' : type
  if (isOwn) note += ' / between own wallets'
  const [sent, got] = [gone?.asset.address ?? null, came?.asset.address ?? null]
  if (sent !== null) note += ` / contract ${sent}`
  if (got !== null && got !== sent) note += ` / contract ${got}`
  if (counterparty !== null && kind !== 'swap') note += ` / ${isOut ? 'to' : 'from'} ${counterparty}`
  if (method === null) return `${note} / tx ${transaction} / entry ${entry}`
  const name = methodName(method)
  const text = `${note} / method ${name} / tx ${transaction} / entry ${entry}`
  // All else has nothing that wants quotes, and safe text has no quotes itself.
  return needsQuotes(name) ? `"${text}"` : text
}
