import type { Preset } from '../csv/preset.ts'

export const coinpanda: Preset = {
  name: 'coinpanda',
  title: 'Coinpanda',
  columns: [
    ['Timestamp (UTC)', 'date'],
    ['Type', 'way'],
    ['Sent Amount', 'outAmount'],
    ['Sent Currency', 'outAsset'],
    ['Received Amount', 'inAmount'],
    ['Received Currency', 'inAsset'],
    ['Fee Amount', 'empty'],
    ['Fee Currency', 'empty'],
    ['Net Worth Amount', 'worth'],
    ['Net Worth Currency', 'worthCurrency'],
    ['Label', 'type'],
    ['Description', 'note'],
    ['TxHash', 'hash'],
  ],
  date: 'YYYY-MM-DD HH:mm:ss',
  types: { in: '', out: '', fee: 'Cost', swap: '' },
  otherTypes: [
    ...['Airdrop', 'Staking', 'Income', 'Receive Loan', 'Repay Loan', 'Liquidity in', 'Liquidity out', 'NFT'],
  ],
  fee: 'as what went out',
  naming: 'ticker',
  numbers: {},
  holdsNfts: false,
  holdsSwaps: true,
  source: 'columns, types and labels of staketaxcsv 87547d5',
  rulesOf: '2025-12-17',
  unverified: "every rule in the vendor's own words",
}
