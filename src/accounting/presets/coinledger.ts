import { type Preset, TRANSFERS, USUAL } from '../csv/preset.ts'

export const coinledger: Preset = {
  ...USUAL,
  name: 'coinledger',
  title: 'CoinLedger',
  columns: [
    ['Date (UTC)', 'date'],
    ['Platform (Optional)', 'wallet'],
    ['Asset Sent', 'outAsset'],
    ['Amount Sent', 'outAmount'],
    ['Asset Received', 'inAsset'],
    ['Amount Received', 'inAmount'],
    ['Fee Currency (Optional)', 'empty'],
    ['Fee Amount (Optional)', 'empty'],
    ['Type', 'type'],
    ['Description (Optional)', 'note'],
    ['TxHash (Optional)', 'hash'],
  ],
  date: 'MM/DD/YYYY HH:mm:ss',
  types: { ...TRANSFERS, fee: 'Network Fee' },
  labels: {
    in: ['Airdrop', 'Staking', 'Income', 'Mining'],
    out: ['Gift Sent', 'Merchant Payment'],
    swap: [],
  },
  source: "CoinLedger's page 6028758; dates of staketaxcsv 87547d5",
  rulesOf: '2025-12-17',
  unverified: 'the type of fees (Network Fee), which was only seen in its own export',
}
