import type { JsonObject } from '../../../src/demo-server/json.ts'
import { ANN, address, BEN, coins, createChain } from '../made-up-transactions.ts'

const { transaction, erc20, nft } = createChain()

export { ANN, BEN, coins, erc20, nft }

/**
 * A situation in the history of a wallet, with the rows that each program expects for it. The rows follow from the rules
 * of the programs, not from the output:
 *
 * - Koinly: a row has a sent amount, a received one, or both if it is a trade. A fee is a sent amount with the label
 *   `cost`, and a wrapped coin a trade with the label `swap` (Koinly's pages 9490023 and 3663453). NFTs and tokens without
 *   a ticker have placeholders, and amounts a decimal separator.
 * - CoinTracking: the types of its pages 29000042783 and 29000007202. A fee is a row with the type `Other Fee`.
 * - rotki: a trade has both amounts (rotki_trades.py); everything else is an event with one (rotki_events.py). Tokens are
 *   identified by contract.
 * - hledger: each pair of postings balances. `@@` states the total cost of an amount (https://hledger.org/hledger.html#costs).
 * - rp2: a conversion is a sale and a purchase (docs/user_faq.md), and a fee a row of out.csv with the type `FEE`. Transfers
 *   between own wallets are in intra.csv (docs/configuration_file.md of dali-rp2). Numbers have 11 decimals (ods_parser.py of rp2).
 *
 * Refunds reduce what was sent. Koinly and CoinTracking have the fee in the columns of the row that it was paid for, where they
 * document how they count it there; the reader returns it as a row of its own, as the fee of every other transaction is.
 *
 * None of them infers a tax treatment: what is received is a deposit, which the user may give another type.
 */
export type Case = {
  name: string
  transaction: JsonObject
  /** Whether a wallet of the job sent the transaction and therefore paid its fee. Its row is `FEES`. @default true */
  paysFee?: boolean
} & Record<Program, readonly string[]>

export const PROGRAMS = ['koinly', 'cointracking', 'rotki', 'hledger', 'rp2'] as const
export type Program = (typeof PROGRAMS)[number]

/** The row of the fee of a transaction that `ANN` sends. */
export const FEES: Readonly<Record<Program, string>> = {
  koinly: 'cost -0.00125000000005 AVAX',
  cointracking: 'Other Fee -0.00125000000005 AVAX',
  rotki: 'Spend 0.00125000000005 AVAX',
  hledger: 'Ann -0.00125000000005 AVAX, expenses:gas 0.00125000000005 AVAX',
  rp2: 'out FEE 0.00125 AVAX',
}

export const [ROUTER, POOL, FRIEND, MARKET, ZERO] = ['1', '2', '3', '9', '0'].map(address) as Addresses
type Addresses = [string, string, string, string, string]

/** Contracts with a ticker in the table of well-known tokens. */
export const USDC = known('USDC', 6, '0xb97ef9ef8734c71904d8002f8b6bc66dd9c48a6e')
export const USDT = known('USDT', 6, '0x9702230a8ea53601f5cd2dc00fdbc13d4df4a8c7')
export const WETH = known('WETH.e', 18, '0x49d5c2bdffac6ce2bfdb6640f4f80f226bc10bab')
export const BTC = known('BTC.b', 8, '0x152b9d0fdc40c096757f570a51e494bd4b943e50')
export const WAVAX = known('WAVAX', 18, '0xb31f66aa3c1e785363f0875a1b74e27b85fd66c7')

/** Contracts without one. */
export const SHARE = token('LP', 18, '2a')
export const REWARD = token('REW', 18, '2b')
export const SPAM = token('freeth.io', 18, '2c')
export const TICKETS = token('TIX', 0, '2d')
export const YOCTO = token('YOC', 24, '2e')
export const FOO = token('FOO', 18, '3a')
export const OTHER_FOO = token('FOO', 18, '3b')
export const OLD_NAME = token('OLD', 18, '3c')
export const NEW_NAME = token('NEW', 18, '3c')

export const TOKENS: readonly Token[] = [
  USDC,
  USDT,
  WETH,
  BTC,
  WAVAX,
  SHARE,
  REWARD,
  SPAM,
  TICKETS,
  YOCTO,
  FOO,
  OTHER_FOO,
  OLD_NAME,
]

export type Token = { address: string; name: string; symbol: string; decimals: number }

function known(symbol: string, decimals: number, contract: string): Token {
  return { address: contract, name: symbol, symbol, decimals }
}

function token(symbol: string, decimals: number, digits: string): Token {
  return known(symbol, decimals, `0x${digits.repeat(20)}`)
}

/** Whole coins, in the smallest unit. */
export const whole = (amount: number): bigint => BigInt(Math.round(amount * 10_000)) * 10n ** 14n

/** A transfer of an amount of a token with at most six digits after the point. */
export function sends(of: Token, parties: readonly [from: string, to: string], amount: number): JsonObject {
  const value = BigInt(Math.round(amount * 1_000_000)) * 10n ** BigInt(of.decimals)
  return erc20(of, parties, value / 1_000_000n)
}

/** What the wallet of all cases holds before them. */
const FUNDS = transaction(
  // The last digits are the remainder of 11 decimals, so that the fees of rp2 do not need another unit.
  { at: '2023-12-30T00:00:00Z', parties: [FRIEND, ANN], value: whole(100) + 9_900_000n },
  {
    erc20: [
      sends(USDC, [FRIEND, ANN], 5_000),
      sends(USDT, [FRIEND, ANN], 1_000),
      sends(WETH, [FRIEND, ANN], 1),
    ],
  },
)

/** The last millisecond of a year, and the first of the next. */
export const YEAR_END = ['2023-12-31T23:59:59.999Z', '2024-01-01T00:00:00Z'].map((at) =>
  transaction({ at, parties: [FRIEND, ANN], value: whole(1) }),
)

/** The transactions before those of the cases. */
export const EARLIER_TRANSACTIONS: readonly JsonObject[] = [FUNDS, ...YEAR_END]

let minutes = 0

/** A transaction on 1 March 2024, a minute after the one before. */
export function transact(
  parties: readonly [from: string, to: string],
  native: Omit<Parameters<typeof transaction>[0], 'at' | 'parties'> = {},
  entries?: Parameters<typeof transaction>[1],
): JsonObject {
  minutes += 1
  return transaction(
    { at: new Date(Date.UTC(2024, 2, 1, 0, minutes)).toISOString(), parties, ...native },
    entries,
  )
}
