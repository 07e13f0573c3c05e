import type { MultiFileWriter, Preset } from '../csv/preset.ts'
import { labelledRowsOf } from '../import-rows.ts'

const ABOUT = {
  name: 'rotki',
  title: 'rotki, generic events and generic trades',
  source:
    'rotki ef14aad, rotki_events.py and rotki_trades.py of data_import/importers, types.py (locations, coins); rotki/assets 252c95b (coins); tested with these importers',
  rulesOf: '2026-08-21',
  unverified: 'its interface, and which tokens its complete database has',
}

const COMMON = {
  ...ABOUT,
  date: 'milliseconds',
  fee: 'sent amount',
  naming: 'caip',
  // Not listed: CRO and MNT, which are tokens of Ethereum in rotki. POL would be the coin of no chain.
  coinIds: {
    AVAX: 'AVAX',
    BNB: 'BNB',
    CELO: 'CELO',
    ETH: 'ETH',
    GLMR: 'GLMR',
    POL: 'eip155:137/erc20:0x0000000000000000000000000000000000001010',
    S: 'SONIC',
    xDAI: 'XDAI',
  },
  numbers: {},
  // Its tokens are ERC-20 or ERC-721 (TokenKind in types.py).
  supportsNfts: 'erc721',
  chainNames: {
    '1': 'ethereum',
    '10': 'optimism',
    '56': 'binance sc',
    '100': 'gnosis',
    '137': 'polygon pos',
    '8453': 'base',
    '42161': 'arbitrum one',
    '43114': 'avalanche',
    '534352': 'scroll',
    other: 'external',
  },
} as const

const EVENTS: Preset = {
  ...COMMON,
  file: 'events.csv',
  columns: [
    ['Type', 'type'],
    ['Location', 'chain'],
    ['Currency', 'asset'],
    ['Amount', 'amount'],
    ['Fee', 'empty'],
    ['Fee Currency', 'empty'],
    ['Description', 'note'],
    ['Timestamp', 'date'],
  ],
  types: { in: 'Deposit', out: 'Withdrawal', fee: 'Spend', income: { airdrop: 'Income', reward: 'Income' } },
  labels: {
    in: ['Income', 'Staking'],
    out: ['Loss'],
    swap: [],
  },
  supportsSwaps: false,
  equalLines: { handling: 'keep', compares: 'nothing: each event gets a random id (rotki_events.py)' },
}

const TRADES: Preset = {
  ...COMMON,
  file: 'trades.csv',
  columns: [
    ['Location', 'chain'],
    ['Spend Currency', 'outAsset'],
    ['Receive Currency', 'inAsset'],
    ['Receive Amount', 'inAmount'],
    ['Spend Amount', 'outAmount'],
    ['Fee', 'empty'],
    ['Fee Currency', 'empty'],
    ['Description', 'note'],
    ['Timestamp', 'date'],
  ],
  types: {},
  supportsSwaps: true,
  equalLines: {
    handling: 'unpair',
    compares:
      'location, time in milliseconds, identifiers and amounts of a trade (create_group_identifier_from_swap)',
  },
}

/** Two files: swaps, and all other movements. */
export const rotki: MultiFileWriter = {
  ...ABOUT,
  files: [EVENTS, TRADES],
  isPerWallet: false,
  needsTransactions: false,
  placementsOf: (movements, options) =>
    labelledRowsOf(movements, options).map((row) => ({ row, format: row.kind === 'swap' ? TRADES : EVENTS })),
}
