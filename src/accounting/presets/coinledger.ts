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
    ['Fee Currency (Optional)', 'feeAsset'],
    ['Fee Amount (Optional)', 'feeAmount'],
    ['Type', 'type'],
    ['Description (Optional)', 'note'],
    ['TxHash (Optional)', 'hash'],
  ],
  date: 'MM/DD/YYYY HH:mm:ss',
  types: { ...TRANSFERS, fee: 'Network Fee', income: { airdrop: 'Airdrop', reward: 'Income' } },
  labels: {
    in: ['Airdrop', 'Staking', 'Income', 'Mining'],
    out: ['Gift Sent', 'Merchant Payment'],
    swap: [],
  },
  attachedFees: {
    isDefault: false,
    ofOtherAssets: true,
    ofSameAsset: 'beside',
    source: "CoinLedger's page 6028758",
  },
  source: "CoinLedger's page 6028758; dates of staketaxcsv 87547d5",
  rulesOf: '2025-12-17',
  unverified: 'the type of fees (Network Fee), which was only seen in its own export',
}
