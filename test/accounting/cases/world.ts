import type { JsonObject } from '../../../src/demo-server/json.ts'
import { type Case, EARLIER_TRANSACTIONS } from './case.ts'
import { DEPOSITS } from './deposits.ts'
import { TRADES } from './trades.ts'
import { TRANSFERS } from './transfers.ts'

export const CASES: readonly Case[] = [...DEPOSITS, ...TRADES, ...TRANSFERS]

/** The transactions of all cases, in chain order. */
export const WORLD: readonly JsonObject[] = [
  ...EARLIER_TRANSACTIONS,
  ...CASES.map(({ transaction }) => transaction),
]
