/** The types for received amounts, sent amounts and swaps that many programs share. */
export const TRANSFERS = { in: 'Deposit', out: 'Withdrawal', swap: 'Trade' }
