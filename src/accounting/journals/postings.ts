import { entryRulesOf } from '../../core/model/entry-types.ts'
import { formatAmount, type NumberRules, unformattableReason } from '../format-amount.ts'
import type { ImportRow, Leg } from '../import-rows.ts'
import { type Asset, assetKey, type Movement } from '../movement.ts'
import { firstDigits } from '../names/first-digits.ts'
import type { RefusalReasonOf } from '../precision-limits.ts'
import type { Accounts, JournalFormat } from './journal-format.ts'

export type PostingOptions = {
  format: JournalFormat
  /** Digits that distinguish each wallet from the others, by address. */
  walletDigits: ReadonlyMap<string, string>
  /** Returns the reason if the program cannot represent an asset exactly. */
  refusalReasonOf: RefusalReasonOf
}

/** The text of postings that balance, with the accounts and commodities that they use. */
export type Postings = { accounts: string[]; commodities: [name: string, asset: Asset][]; text: string }

/** Formats a movement as two postings, or returns the reason why the format cannot represent it. */
export function movementPostings(
  movement: Movement,
  label: string | undefined,
  options: PostingOptions,
): Postings | { reason: string } {
  const { format } = options
  const formatted = formatLeg(movement, format.numbers, options)
  if ('reason' in formatted) return formatted
  const { amount, commodity } = formatted
  const wallet = walletAccount(movement, options)
  const counter = label ?? format.accounts[counterAccount(movement)]
  const [own, other] = movement.isOut ? [`-${amount}`, amount] : [amount, `-${amount}`]
  const text =
    format.posting({ account: wallet, amount: own, commodity, movements: [movement] }) +
    format.posting({ account: counter, amount: other, commodity, movements: [] })
  return { accounts: [wallet, counter], commodities: [[commodity, movement.asset]], text }
}

/**
 * Formats a swap as two postings of the wallet: the sent amount, and the received amount with the sent amount as its total
 * price. Undefined if the format cannot represent one of them.
 */
export function swapPostings(
  { in: received, out: sent, movements }: ImportRow,
  options: PostingOptions,
): Postings | undefined {
  const { format } = options
  if (received === undefined || sent === undefined) return undefined
  const numbers = { ...format.numbers, ...format.pricedNumbers }
  const [gain, cost] = [formatLeg(received, numbers, options), formatLeg(sent, numbers, options)]
  if ('reason' in gain || 'reason' in cost || gain.commodity === cost.commodity) return undefined
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

type FormattedLeg = { amount: string; commodity: string }

function formatLeg(
  { asset, value }: Leg,
  numbers: NumberRules,
  { format, refusalReasonOf }: PostingOptions,
): FormattedLeg | { reason: string } {
  const refusal = refusalReasonOf(asset)
  if (refusal !== undefined) return { reason: refusal }
  const amount = formatAmount(value, asset.decimals, numbers)?.text
  if (amount === undefined) return { reason: unformattableReason(asset.decimals, numbers) }
  if (amount.length > format.maxNumberLength)
    return { reason: `a number of more than ${format.maxNumberLength} characters` }
  return { amount, commodity: format.commodityOf(asset) }
}

function walletAccount(movement: Movement, { format, walletDigits }: PostingOptions): string {
  const { wallet } = movement
  return format.accountOf(movement, walletDigits.get(wallet) ?? firstDigits(wallet))
}

function counterAccount(movement: Movement): keyof Accounts {
  const { countsAs } = entryRulesOf(movement.type)
  if (countsAs !== 'transfer' && countsAs !== 'wrap') return countsAs
  if (movement.isOwn) return 'own'
  return movement.isOut ? 'out' : 'in'
}
