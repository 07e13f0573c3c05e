import { type Preset, TRANSFERS, USUAL } from '../csv/preset.ts'

export const blockpit: Preset = {
  ...USUAL,
  name: 'blockpit',
  title: 'Blockpit',
  columns: [
    ['Date (UTC)', 'date'],
    ['Integration Name', 'wallet'],
    ['Label', 'type'],
    ['Outgoing Asset', 'outAsset'],
    ['Outgoing Amount', 'outAmount'],
    ['Incoming Asset', 'inAsset'],
    ['Incoming Amount', 'inAmount'],
    ['Fee Asset (optional)', 'empty'],
    ['Fee Amount (optional)', 'empty'],
    ['Comment (optional)', 'note'],
    ['Trx. ID (optional)', 'hash'],
  ],
  date: 'DD.MM.YYYY HH:mm:ss',
  types: { ...TRANSFERS, fee: 'Fee', income: { airdrop: 'Airdrop' } },
  labels: {
    in: ['Airdrop', 'Bounties', 'Lending', 'Staking', 'Margin_trading_profit'],
    out: ['Margin_trading_loss'],
    swap: [],
  },
  source: "Blockpit's page 11453835867292; columns of staketaxcsv 87547d5, labels of BittyTax 287c4b4",
  rulesOf: '2026-07-17',
  unverified: 'whether its XLSX template is accepted as CSV; if not, save the file as XLSX',
}
