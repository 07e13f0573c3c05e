/** What many programs call what came in, what went out, and both. */
export const TRANSFERS = { in: 'Deposit', out: 'Withdrawal', swap: 'Trade' }
