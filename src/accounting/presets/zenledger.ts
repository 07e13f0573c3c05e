import { type Preset, USUAL } from '../csv/preset.ts'

export const zenledger: Preset = {
  ...USUAL,
  name: 'zenledger',
  title: 'ZenLedger',
  columns: [
    ['Timestamp', 'date'],
    ['Type', 'type'],
    ['IN Amount', 'inAmount'],
    ['IN Currency', 'inAsset'],
    ['Out Amount', 'outAmount'],
    ['Out Currency', 'outAsset'],
    ['Fee Amount', 'feeAmount'],
    ['Fee Currency', 'feeAsset'],
    ['Exchange(optional)', 'wallet'],
    ['US Based', 'empty'],
  ],
  date: 'YYYY-MM-DD HH:mm:ss',
  types: {
    in: 'Receive',
    out: 'Send',
    fee: 'Send',
    swap: 'Trade',
    income: { airdrop: 'Airdrop', reward: 'misc reward' },
  },
  labels: {
    in: ['Fork', 'Airdrop', 'Payment', 'staking reward', 'misc reward'],
    out: [],
    swap: ['Buy', 'Sell', 'Initial Coin Offering', 'Margin Trade', 'Purchase'],
  },
  equalLines: { handling: 'merge', compares: 'not documented; assumed: all columns' },
  attachedFees: {
    isDefault: false,
    ofOtherAssets: true,
    ofSameAsset: 'beside',
    source: "ZenLedger's page 7972857",
  },
  source: "ZenLedger's pages 7972857 and 14319005; columns of staketaxcsv 87547d5",
  rulesOf: '2025-12-17',
  unverified: 'a type for fees, which are written as Send',
}
