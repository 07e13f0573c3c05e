import type { Preset } from '../preset.ts'

export const coinpanda: Preset = {
  name: 'coinpanda',
  title: 'Coinpanda',
  columns: [
    ['Timestamp (UTC)', 'date'],
    ['Type', 'type'],
    ['Sent Amount', 'outAmount'],
    ['Sent Currency', 'outAsset'],
    ['Received Amount', 'inAmount'],
    ['Received Currency', 'inAsset'],
    ['Fee Amount', 'empty'],
    ['Fee Currency', 'empty'],
    ['Net Worth Amount', 'worth'],
    ['Net Worth Currency', 'worthCurrency'],
    ['Label', 'empty'],
    ['Description', 'note'],
    ['TxHash', 'hash'],
  ],
  date: 'YYYY-MM-DD HH:mm:ss',
  types: { in: 'Receive', out: 'Send', fee: 'Send', swap: 'Trade' },
  fee: 'as what went out',
  naming: 'ticker',
  numbers: {},
  holdsNfts: false,
  holdsSwaps: true,
  source: 'columns of staketaxcsv 87547d5',
  rulesOf: '2025-12-17',
  unverified:
    "the columns between 'Received Currency' and 'Label', and every rule: no page of the vendor was read",
}
