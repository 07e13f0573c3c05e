import { entryRulesOf } from '../../core/model/entry-types.ts'
import { compareTexts } from '../../ledger/balances/balance-sums.ts'
import { readFungibleAssets } from '../../ledger/prices/prices.ts'
import { extensionOf } from '../conversion-target.ts'
import { formatAmount, type NumberRules, unformattableReason } from '../format-amount.ts'
import { acceptsSwapIn, type ImportRow, type Leg, labelledRowsOf } from '../import-rows.ts'
import { readLabels } from '../labels.ts'
import { type Asset, assetKey, groupByWallet, type Movement, type Omitted, toOmitted } from '../movement.ts'
import { withContract } from '../names/contracts.ts'
import { digitsToDistinguish, firstDigits, walletFileName } from '../names/names.ts'
import { findPrecisionRefusals, type RefusalReasonOf } from '../precision-limits.ts'
import type { Conversion, TextWriter } from '../text-writer.ts'
import type { DayPrice, JournalFormat } from './journal-format.ts'

/**
 * Opens the writer of a journal, or of one journal per wallet. Each journal declares the accounts and commodities that
 * it uses.
 */
export async function openJournalWriter(format: JournalFormat, conversion: Conversion): Promise<TextWriter> {
  const { options, sources, onOmitted } = conversion
  const wallets = sources.flatMap(({ opened }) => opened.manifest.coverage)
  const walletDigits = digitsToDistinguish(wallets.map(({ address }) => address))
  // The types of labels are accounts here.
  const { labelOf, findings } = await readLabels(options.labels, format.accountRule)
  const refusalReasonOf = await findPrecisionRefusals(format, conversion)
  const header = format.header(conversion.prices?.currency) + (await pricesHeader(format, conversion))
  const extension = extensionOf(options)
  const writers = new Map<string, ReturnType<typeof createJournalWriter>>()
  return {
    files: options.perWallet ? [] : [{ name: '', header }],
    write: (movements) => {
      const groups = options.perWallet ? groupByWallet(movements) : [movements as [Movement, ...Movement[]]]
      return groups.map((group) => {
        const name = options.perWallet ? `${walletFileName(group[0])}${extension}` : ''
        const writer =
          writers.get(name) ?? createJournalWriter({ format, walletDigits, refusalReasonOf, onOmitted })
        writers.set(name, writer)
        const acceptsSwap = acceptsSwapIn(
          options.swaps ?? 'pair',
          // A label names the other side of each movement, which a swap does not have.
          (row) => labelOf(row) === undefined && writer.canWriteSwap(row),
        )
        const text = writer.write(labelledRowsOf(group, { labelOf, acceptsSwap }))
        return { file: { name, header }, text, lines: text === '' ? 0 : 1 }
      })
    },
    labelFindings: findings,
  }
}

/**
 * Writes the user's prices of the exported assets as price directives, sorted by commodity and day. Directives have no time of
 * day, so only the last price of each day is written.
 */
async function pricesHeader(format: JournalFormat, { prices, sources }: Conversion): Promise<string> {
  if (prices === undefined) return ''
  const { currency } = prices
  const lastOfDays = new Map<string, DayPrice & { from: number; chain: string }>()
  for (const { opened, chain, contracts } of sources) {
    for (const asset of await readFungibleAssets(opened)) {
      const commodity = format.commodityOf(withContract(asset, contracts))
      for (const { from, price } of prices.ofChain(chain).all(asset)) {
        const day = new Date(from).toISOString().slice(0, 10)
        const key = `${commodity} ${day}`
        const last = lastOfDays.get(key)
        // Prices of one instant are of several chains. They should be equal; the order of the exports must not matter.
        if (last === undefined || from > last.from || (from === last.from && chain > last.chain))
          lastOfDays.set(key, { day, commodity, price, currency, from, chain })
      }
    }
  }
  const lines = [...lastOfDays].sort(([a], [b]) => compareTexts(a, b)).map(([, price]) => format.price(price))
  return lines.length === 0 ? '' : `${lines.join('')}\n`
}

type JournalOptions = {
  format: JournalFormat
  /** Digits that distinguish each wallet from the others, by address. */
  walletDigits: ReadonlyMap<string, string>
  /** Returns the reason if the program cannot represent an asset exactly. */
  refusalReasonOf: RefusalReasonOf
  onOmitted: (omitted: Omitted) => void
}

/**
 * Creates a writer of one entry per transaction. Each movement and each swap has two postings that balance, so an entry
 * balances for any selection of wallets and days.
 */
export function createJournalWriter(options: JournalOptions) {
  const { format, onOmitted } = options
  const declared = new Set<string>()
  const declare = (key: string, declaration: () => string) => {
    if (declared.has(key)) return ''
    declared.add(key)
    return declaration()
  }
  const declarationsOf = ({ accounts, commodities }: Postings): string => {
    let text = ''
    for (const account of accounts)
      text += declare(`account ${account}`, () => format.declareAccount(account))
    for (const [name, asset] of commodities)
      text += declare(`commodity ${name}`, () => format.declareCommodity(name, asset))
    return text
  }
  const postingsOf = (row: ImportRow): Postings[] => {
    const swap = row.kind === 'swap' ? swapPostings(row, options) : undefined
    if (swap !== undefined) return [swap]
    const postings = rowPostings(row, options)
    if (typeof postings !== 'string') return [postings]
    for (const movement of row.movements) onOmitted(toOmitted(movement, postings))
    return []
  }
  return {
    /** Whether the format can represent a swap with its price. */
    canWriteSwap: (row: ImportRow) => swapPostings(row, options) !== undefined,
    /** Returns the entry of one transaction with the declarations it needs; empty if none of its movements can be written. */
    write(rows: readonly ImportRow[]): string {
      const postings: Postings[] = []
      for (const row of rows) for (const posting of postingsOf(row)) postings.push(posting)
      const first = rows[0]?.movements[0]
      if (first === undefined || postings.length === 0) return ''
      let [declarations, texts] = ['', '']
      for (const posting of postings) {
        declarations += declarationsOf(posting)
        texts += posting.text
      }
      return `${declarations}${format.entryHeader({ ...first, counterpartyName: findPartyName(rows) })}\n${texts}\n`
    },
  }
}

/** The name of the first counterparty that has one and is not a wallet of the job, whose side is in the entry too. */
function findPartyName(rows: readonly ImportRow[]): string | undefined {
  for (const { movements } of rows)
    for (const { counterpartyName, isOwn } of movements)
      if (counterpartyName !== undefined && !isOwn) return counterpartyName
  return undefined
}

/** The text of postings that balance, with the accounts and commodities that they use. */
type Postings = { accounts: string[]; commodities: [name: string, asset: Asset][]; text: string }

/** Formats an amount as two postings, or returns the reason why the format cannot represent it. */
function rowPostings(row: ImportRow, options: JournalOptions): Postings | string {
  const { format } = options
  const { movements, label } = row
  const [movement] = movements
  const leg = row.in ?? row.out ?? movement
  const formatted = formatLeg(leg, format.numbers, options)
  if (typeof formatted === 'string') return formatted
  const { amount, commodity } = formatted
  const wallet = walletAccount(movement, options)
  const counter = label ?? format.accounts[counterAccount(movement)]
  const [own, other] = row.in === undefined ? [`-${amount}`, amount] : [amount, `-${amount}`]
  const text =
    format.posting({ account: wallet, amount: own, commodity, movements }) +
    format.posting({ account: counter, amount: other, commodity, movements: [] })
  return { accounts: [wallet, counter], commodities: [[commodity, leg.asset]], text }
}

/**
 * Formats a swap as two postings of the wallet: the sent amount, and the received amount with the sent amount as its total
 * price. Undefined if the format cannot represent one of them.
 */
function swapPostings(
  { in: received, out: sent, movements }: ImportRow,
  options: JournalOptions,
): Postings | undefined {
  const { format } = options
  if (received === undefined || sent === undefined) return undefined
  const numbers = { ...format.numbers, ...format.pricedNumbers }
  const [gain, cost] = [formatLeg(received, numbers, options), formatLeg(sent, numbers, options)]
  if (typeof gain === 'string' || typeof cost === 'string' || gain.commodity === cost.commodity)
    return undefined
  const account = walletAccount(movements[0], options)
  const text =
    format.posting({ account, ...cost, amount: `-${cost.amount}`, movements: movementsOf(sent, movements) }) +
    format.posting({ account, ...gain, totalPrice: cost, movements: movementsOf(received, movements) })
  return {
    accounts: [account],
    commodities: [
      [cost.commodity, sent.asset],
      [gain.commodity, received.asset],
    ],
    text,
  }
}

const movementsOf = ({ asset }: Leg, movements: readonly Movement[]) =>
  movements.filter((movement) => assetKey(movement.asset) === assetKey(asset))

/** Formats an amount, or returns the reason why the format cannot represent it. */
function formatLeg(
  { asset, value }: Leg,
  numbers: NumberRules,
  { format, refusalReasonOf }: JournalOptions,
): { amount: string; commodity: string } | string {
  const refusal = refusalReasonOf(asset)
  if (refusal !== undefined) return refusal
  const amount = formatAmount(value, asset.decimals, numbers)
  if (amount === undefined) return unformattableReason(asset.decimals, numbers)
  if (amount.length > format.maxNumberLength)
    return `a number of more than ${format.maxNumberLength} characters`
  return { amount, commodity: format.commodityOf(asset) }
}

const walletAccount = (movement: Movement, { format, walletDigits }: JournalOptions): string =>
  format.accountOf(movement, walletDigits.get(movement.wallet) ?? firstDigits(movement.wallet))

function counterAccount(movement: Movement): keyof JournalFormat['accounts'] {
  const { countsAs } = entryRulesOf(movement.type)
  if (countsAs !== 'transfer' && countsAs !== 'wrap') return countsAs
  if (movement.isOwn) return 'own'
  return movement.isOut ? 'out' : 'in'
}
