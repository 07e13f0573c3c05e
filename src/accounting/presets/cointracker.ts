import { type Preset, USUAL } from '../csv/preset.ts'

export const cointracker: Preset = {
  ...USUAL,
  name: 'cointracker',
  title: 'CoinTracker',
  columns: [
    ['Date', 'date'],
    ['Received Quantity', 'inAmount'],
    ['Received Currency', 'inAsset'],
    ['Sent Quantity', 'outAmount'],
    ['Sent Currency', 'outAsset'],
    ['Fee Amount', 'feeAmount'],
    ['Fee Currency', 'feeAsset'],
    ['Tag', 'type'],
  ],
  date: 'MM/DD/YYYY HH:mm:ss',
  types: { in: '', out: '', fee: '', swap: '', income: { airdrop: 'airdrop' } },
  labels: {
    in: ['fork', 'airdrop', 'mined', 'payment', 'staked', 'staking', 'unstake', 'margin gain'],
    out: ['gift', 'lost', 'donation', 'stake', 'margin fee', 'margin loss'],
    swap: ['stake', 'unstake', 'margin'],
  },
  labelsOwnTransfers: false,
  numbers: { maxDecimals: 8 },
  equalLines: { handling: 'merge', compares: 'not documented; assumed: all columns' },
  attachedFees: {
    isDefault: true,
    ofOtherAssets: true,
    ofSameAsset: 'included if sent',
    source: "CoinTracker's page 4413071299729; bryanlabs/cosmos-tax-cli#232: sent quantities include fees",
  },
  source: "CoinTracker's rules as quoted in bryanlabs/cosmos-tax-cli#232; its tag page",
  rulesOf: '2026-07-17',
  unverified: 'whether it still rejects more than eight decimals',
}
