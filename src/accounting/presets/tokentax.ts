import type { Preset } from '../csv/preset.ts'
import { TRANSFERS } from './transfers.ts'

export const tokentax: Preset = {
  name: 'tokentax',
  title: 'TokenTax',
  columns: [
    ['Type', 'type'],
    ['BuyAmount', 'inAmount'],
    ['BuyCurrency', 'inAsset'],
    ['SellAmount', 'outAmount'],
    ['SellCurrency', 'outAsset'],
    ['FeeAmount', 'empty'],
    ['FeeCurrency', 'empty'],
    ['Exchange', 'wallet'],
    ['Group', 'empty'],
    ['Comment', 'note'],
    ['Date', 'date'],
  ],
  date: 'MM/DD/YYYY HH:mm:ss',
  types: { ...TRANSFERS, fee: 'Spend' },
  labels: {
    in: ['Income', 'Mining', 'Staking', 'Airdrop'],
    out: ['Lost', 'Stolen', 'Gift'],
    swap: [],
  },
  walletOfType: { Gift: 'Gift' },
  fee: 'sent amount',
  naming: 'ticker',
  numbers: {},
  supportsNfts: false,
  supportsSwaps: true,
  equalLines: { handling: 'merge', compares: 'not documented; assumed: all columns but the description' },
  source: "TokenTax's page 1707630; dates of staketaxcsv 87547d5",
  rulesOf: '2025-12-17',
}
