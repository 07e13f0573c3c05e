import { type Preset, USUAL } from '../csv/preset.ts'

export const taxbit: Preset = {
  ...USUAL,
  name: 'taxbit',
  title: 'TaxBit',
  columns: [
    ['Date and Time', 'date'],
    ['Transaction Type', 'type'],
    ['Sent Quantity', 'outAmount'],
    ['Sent Currency', 'outAsset'],
    ['Sending Source', 'from'],
    ['Received Quantity', 'inAmount'],
    ['Received Currency', 'inAsset'],
    ['Receiving Destination', 'to'],
    ['Fee', 'feeAmount'],
    ['Fee Currency', 'feeAsset'],
    ['Exchange Transaction ID', 'id'],
    ['Blockchain Transaction Hash', 'hash'],
  ],
  date: 'YYYY-MM-DDTHH:mm:ssZ',
  types: {
    in: 'Transfer In',
    out: 'Transfer Out',
    fee: 'Expense',
    swap: 'Trade',
    income: { airdrop: 'Income', reward: 'Income' },
  },
  labels: {
    in: ['Buy', 'Income', 'Gift Received'],
    out: ['Sell', 'Gift Sent'],
    swap: ['Buy', 'Sell'],
  },
  equalLines: { handling: 'distinguish', compares: 'not documented; assumed: Exchange Transaction ID' },
  attachedFees: {
    isDefault: false,
    ofOtherAssets: true,
    ofSameAsset: 'beside',
    source: "TaxBit's page 32639423953293",
  },
  source: "TaxBit's page 360047756913; dates of staketaxcsv 87547d5",
  rulesOf: '2025-12-17',
  unverified: 'the list of types',
}
