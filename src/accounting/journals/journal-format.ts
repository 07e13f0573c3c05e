import type { NumberRules } from '../format-amount.ts'
import type { AccountRule } from '../labels.ts'
import type { Asset, Movement } from '../movement.ts'

/** The journal format of a plain text accounting program. */
export type JournalFormat = {
  name: string
  title: string
  /** Default counter accounts. */
  accounts: Accounts
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

/** Counter accounts by the kind of movement. */
export type Accounts = Record<'opening' | 'fee' | 'mint' | 'burn' | 'own' | 'in' | 'out', string>

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
