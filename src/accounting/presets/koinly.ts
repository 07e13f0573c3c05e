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
  types: {
    ...{ in: '', out: '', fee: 'cost', swap: '', wrap: 'swap' },
    pool: { add: 'Add to Pool', remove: 'Remove from Pool' },
  },
  labels: {
    in: [
      'airdrop',
      'fork',
      'mining',
      'reward',
      'income',
      'other income',
      'lending interest',
      'salary',
      'cashback',
      'fee refund',
      'loan',
      'margin loan',
      'realized pnl',
    ],
    out: ['gift', 'lost', 'donation', 'tax', 'loan fee', 'margin fee', 'realized pnl'],
    swap: [],
  },
  fee: 'sent amount',
  naming: 'placeholder',
  numbers: { needsPoint: true },
  supportsNfts: true,
  supportsSwaps: true,
  equalLines: {
    handling: 'merge',
    compares: "date, currencies, amounts and hash (Koinly's page 9789363)",
    ignored: ['type', 'worth', 'worthCurrency'],
  },
  source:
    'Koinly help pages on the universal format, 3663453 (labels) and 9490056 (pools); adastry.io, exporter_koinly.py of staketaxcsv',
  rulesOf: '2026-08-21',
  unverified:
    'whether an import still reads the label `swap` of wrapped coins; what it makes of pool shares, which have no label',
}
