import { OPERATIONS } from './operations.ts'

/** Creates the body of `/`: a description of the service, its operations and example requests. */
export function createIndexPage(chainIds: readonly string[]) {
  return {
    message: 'The embedded data service of walletlake, with small chains of real contracts.',
    chains: chainIds,
    balances: BALANCES,
    endpoints: Object.values(OPERATIONS).map(({ method, path, takes }) => ({
      path: `${method} ${path}`,
      ...(takes.length === 0 ? {} : { [method === 'GET' ? 'parameters' : 'body']: takes }),
    })),
    wallets: EXAMPLE_WALLETS.map(([chainId, about, address]) => ({
      about,
      url: `${WALLET_PATH.replace('{chainId}', chainId).replace('{address}', address)}?pageSize=2`,
    })),
  }
}

const BALANCES =
  'Each of the 50 accounts of chain 43114 started with 10,000 AVAX. The genesis allocation is not in any transaction: the movements of an account sum to its balance minus 10,000 AVAX.'

const WALLET_PATH = OPERATIONS.listWallet.path

const EXAMPLE_WALLETS = [
  ['43114', 'the most active wallet: 2,042 transactions', '0xa548f4431ec271b95b8BDf86c85147C3bBBC5A4f'],
  ['43114', 'deploys contracts and mints tokens', '0x58A57ed9d8d624cBD12e2C467D34787555bB1b25'],
  ['43114', 'received internal transactions only', '0x48A0B31dD707cFb02cbC8706fE88C676630A796b'],
  ['43114', 'holds NFTs only', '0x33ed23F86F8e72507A26748dC0A450590D7c679B'],
  ['43114', 'has no transactions', '0xFD524703A3B2929DE26b5ae154243d3202106b0e'],
  ['1', 'Tether USD, a contract of Ethereum mainnet', '0xdAC17F958D2ee523a2206206994597C13D831ec7'],
] as const
