import { type Preset, TRANSFERS, USUAL } from '../csv/preset.ts'

export const tokentax: Preset = {
  ...USUAL,
  name: 'tokentax',
  title: 'TokenTax',
  columns: [
    ['Type', 'type'],
    ['BuyAmount', 'inAmount'],
    ['BuyCurrency', 'inAsset'],
    ['SellAmount', 'outAmount'],
    ['SellCurrency', 'outAsset'],
    ['FeeAmount', 'feeAmount'],
    ['FeeCurrency', 'feeAsset'],
    ['Exchange', 'wallet'],
    ['Group', 'empty'],
    ['Comment', 'note'],
    ['Date', 'date'],
  ],
  date: 'MM/DD/YYYY HH:mm:ss',
  types: { ...TRANSFERS, fee: 'Spend', income: { airdrop: 'Airdrop', reward: 'Income' } },
  labels: {
    in: ['Income', 'Mining', 'Staking', 'Airdrop'],
    out: ['Lost', 'Stolen', 'Gift'],
    swap: [],
  },
  walletOfType: { Gift: 'Gift' },
  attachedFees: {
    isDefault: false,
    ofOtherAssets: true,
    ofSameAsset: 'beside',
    source: "TokenTax's page 1707630",
  },
  source: "TokenTax's page 1707630; dates of staketaxcsv 87547d5",
  rulesOf: '2025-12-17',
}
