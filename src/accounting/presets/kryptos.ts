import { type Preset, USUAL } from '../csv/preset.ts'

export const kryptos: Preset = {
  ...USUAL,
  name: 'kryptos',
  title: 'Kryptos',
  columns: [
    ['Date-Time', 'date'],
    ['Type', 'type'],
    ['Received Asset', 'inAsset'],
    ['Received Amount', 'inAmount'],
    ['Sent Asset', 'outAsset'],
    ['Sent Amount', 'outAmount'],
    ['Net Worth', 'worth'],
    ['Base Currency', 'worthCurrency'],
    ['Fee Asset', 'empty'],
    ['Fee Amount', 'empty'],
    ['Fee Net Worth', 'empty'],
    ['Description', 'note'],
    ['Tx Hash', 'hash'],
    ['Sent Asset Contract Address', 'outContract'],
    ['Received Asset Contract Address', 'inContract'],
    ['From Address', 'from'],
    ['To Address', 'to'],
    ['Comment', 'empty'],
  ],
  date: 'YYYY-MM-DDTHH:mm:ss.000Z',
  types: { in: 'deposit', out: 'withdrawal', fee: 'withdrawal', swap: 'trade' },
  labels: {
    in: ['transfer'],
    out: ['transfer'],
    swap: [],
  },
  source: 'columns, types and dates of staketaxcsv 87547d5',
  rulesOf: '2025-12-17',
  unverified:
    'all rules: no vendor documentation was available; whether its XLSX template is accepted as CSV',
}
