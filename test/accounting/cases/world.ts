import type { JsonObject } from '../../../src/demo-server/json.ts'
import { type Case, EARLIER_TRANSACTIONS, TOKENS } from './case.ts'
import { DEPOSITS } from './deposits.ts'
import { TRADES } from './trades.ts'
import { TRANSFERS } from './transfers.ts'

export const CASES: readonly Case[] = [...DEPOSITS, ...TRADES, ...TRANSFERS]

/** The transactions of all cases, in chain order. */
export const WORLD: readonly JsonObject[] = [
  ...EARLIER_TRANSACTIONS,
  ...CASES.map(({ transaction }) => transaction),
]

/** A price for every token on the days of the cases. rp2 gets no movement without one. */
export const PRICES: string = [
  'date,asset,currency,price',
  ...['2023-12-30', '2023-12-31', '2024-01-01', '2024-03-01'].flatMap((day) =>
    ['native', ...new Set(TOKENS.map(({ address }) => address))].map((asset) => `${day},${asset},USD,2`),
  ),
  '',
].join('\n')
