import type { Preset } from '../csv/preset.ts'
import { TRANSFERS } from './transfers.ts'

export const bittytax: Preset = {
  name: 'bittytax',
  title: 'BittyTax',
  columns: [
    ['Type', 'type'],
    ['Buy Quantity', 'inAmount'],
    ['Buy Asset', 'inAsset'],
    ['Buy Value in {currency}', 'inWorth'],
    ['Sell Quantity', 'outAmount'],
    ['Sell Asset', 'outAsset'],
    ['Sell Value in {currency}', 'outWorth'],
    ['Fee Quantity', 'feeAmount'],
    ['Fee Asset', 'feeAsset'],
    ['Fee Value in {currency}', 'feeWorth'],
    ['Wallet', 'wallet'],
    ['Timestamp', 'date'],
    ['Note', 'note'],
  ],
  date: 'YYYY-MM-DD HH:mm:ss UTC',
  types: { ...TRANSFERS, fee: 'Spend' },
  otherTypes: [
    ...['Unstake', 'Mining', 'Staking-Reward', 'Staking', 'Interest', 'Dividend', 'Income', 'Gift-Received'],
    ...['Fork', 'Airdrop', 'Referral', 'Cashback', 'Fee-Rebate', 'Loan', 'Margin-Gain'],
    ...['Margin-Fee-Rebate', 'Stake', 'Gift-Sent', 'Gift-Spouse', 'Charity-Sent', 'Lost'],
    ...['Loan-Repayment', 'Loan-Interest', 'Margin-Loss', 'Margin-Fee'],
  ],
  fee: 'in the fee columns, nothing sold',
  naming: 'ticker',
  numbers: { maxDigits: 28, maxSumDigits: 28 },
  holdsNfts: true,
  holdsSwaps: true,
  source: 'BittyTax 287c4b4, import_records.py, t_row.py and data/example.csv',
  rulesOf: '2026-07-17',
}
