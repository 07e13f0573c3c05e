import type { NumberRules } from '../format-amount.ts'
import type { AccountRule } from '../labels.ts'
import type { Asset, Movement } from '../movement.ts'

/** A plain text accounting program's journal. */
export type JournalFormat = {
  name: string
  title: string
  /** Accounts by what a movement is. */
  accounts: Accounts
  /** `digits` tell the wallet from others. */
  accountOf(movement: Movement, digits: string): string
  /** Accounts that users may name. */
  accountRule: AccountRule
  commodityOf(asset: Asset): string
  /** What stands before the first use of an account, and of a commodity. */
  declareAccount(account: string): string
  declareCommodity(commodity: string, asset: Asset): string
  entryHeader(movement: Movement): string
  posting(posting: Posting): string
  /** A line that says what one unit was worth on a day. */
  price(price: DayPrice): string
  /** Characters of a number, at most. */
  maxNumberLength: number
  numbers: NumberRules
  source: string
  rulesOf: string
}

/** By what a movement is, the account that stands against the wallet's. */
export type Accounts = Record<'fee' | 'mint' | 'burn' | 'own' | 'in' | 'out', string>

export type Posting = {
  account: string
  amount: string
  commodity: string
  movement: Movement
  hasComment: boolean
}

export type DayPrice = { day: string; commodity: string; price: string; currency: string }
