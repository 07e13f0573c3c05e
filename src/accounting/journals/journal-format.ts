import type { NumberRules } from '../format-amount.ts'
import type { AccountRule } from '../labels.ts'
import type { Asset, Movement } from '../movement.ts'
import { methodName, safeText } from '../names/names.ts'

/** The journal format of a plain text accounting program. */
export type JournalFormat = {
  name: string
  title: string
  /** Default counter accounts by the kind of movement. */
  accounts: Record<'opening' | 'fee' | 'mint' | 'burn' | 'own' | 'in' | 'out', string>
  /** Returns the account of the movement's wallet. `digits` distinguish the wallet from the others. */
  accountOf(movement: Movement, digits: string): string
  /** The syntax of accounts that labels may assign. */
  accountRule: AccountRule
  commodityOf(asset: Asset): string
  /** Declarations, written before the first use of an account or commodity. */
  declareAccount(account: string): string
  declareCommodity(commodity: string, asset: Asset): string
  entryHeader(movement: Movement): string
  posting(posting: Posting): string
  /** The first lines of the journal; `currency` is that of the user's prices, if there are any. */
  header(currency: string | undefined): string
  /** Returns a price directive. */
  price(price: DayPrice): string
  /** Maximum number of characters of a number. */
  maxNumberLength: number
  numbers: NumberRules
  /** The numbers of postings with a price, where they differ. @default those of all postings */
  pricedNumbers?: NumberRules
  /** The source of the rules, and their date. */
  source: string
  rulesOf: string
}

export type Posting = {
  account: string
  amount: string
  commodity: string
  /** What was paid for the whole amount. */
  totalPrice?: { amount: string; commodity: string } | undefined
  /** The movements whose details the posting carries: those of a wallet's posting; none on the other side. */
  movements: readonly Movement[]
}

export type DayPrice = { day: string; commodity: string; price: string; currency: string }

/** The UTC time of day, to the second: 22:46:40. */
export const timeOfDay = ({ time }: Movement) => time.slice(11, 19)

/** What an entry is about: the called method or, if unknown, the type of the movement. */
export const purpose = ({ method, type }: Movement) => methodName(method ?? '') || type

/** The name of the party that an entry is with; empty if it has none. */
export const payee = ({ counterpartyName }: Movement) => safeText(counterpartyName ?? '')

/**
 * Builds the account name of a wallet: its label without the separators of account parts, then the digits that
 * distinguish it. The second `safeText` collapses spaces that removed characters leave, because two spaces end an
 * account name.
 */
export const walletAccountName = ({ label }: Movement, digits: string) =>
  `${safeText(safeText(label ?? '').replace(/[:()[\]]/g, ''))} ${digits}`.trim()

/** The ids of the ledger entries that a posting represents. */
export const entriesText = (movements: readonly Movement[]) => movements.map(({ entry }) => entry).join(' ')

/** The annotation for the price of a whole amount, which has the same syntax in all programs. */
export const totalPriceText = (price: Posting['totalPrice']) =>
  price === undefined ? '' : ` @@ ${price.amount} ${price.commodity}`
