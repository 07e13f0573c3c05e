/** What people call chains, by their EVM id. */
export const CHAIN_NAMES: Readonly<Record<string, string>> = {
  '1': 'Ethereum',
  '10': 'OP Mainnet',
  '56': 'BNB Smart Chain',
  '100': 'Gnosis',
  '137': 'Polygon PoS',
  '8453': 'Base',
  '42161': 'Arbitrum One',
  '43113': 'Avalanche Fuji',
  '43114': 'Avalanche C-Chain',
  '59144': 'Linea',
  '534352': 'Scroll',
}
