import type { Preset } from '../csv/preset.ts'

export const koinly: Preset = {
  name: 'koinly',
  title: 'Koinly',
  columns: [
    ['Date', 'date'],
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
  types: { in: '', out: '', fee: 'cost', swap: '' },
  otherTypes: [
    ...['airdrop', 'fork', 'mining', 'reward', 'income', 'other income', 'lending interest', 'salary'],
    ...['cashback', 'fee refund', 'loan', 'margin loan', 'realized pnl', 'gift', 'lost', 'donation', 'tax'],
    ...['loan fee', 'margin fee', 'Add to Pool', 'Remove from Pool'],
  ],
  fee: 'as what went out',
  naming: 'placeholder',
  numbers: { needsPoint: true },
  holdsNfts: true,
  holdsSwaps: true,
  source: 'Koinly help pages on the universal format; adastry.io, exporter_koinly.py of staketaxcsv',
  rulesOf: '2026-08-21',
}
