import { OPERATIONS } from './operations.ts'

/** Creates the body of `/`: what this is, what can be asked, and requests to start with. */
export function createIndexPage(chainIds: readonly string[]) {
  return {
    message: 'The embedded data service of walletlake: real chain histories, small enough to ship.',
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
  'Each of the 50 accounts of chain 43114 began with 10,000 AVAX. Coins at genesis are in no transaction: what moved into and out of an account sums to its balance less 10,000 AVAX.'

const WALLET_PATH = OPERATIONS.listWallet.path

const EXAMPLE_WALLETS = [
  ['43114', 'the busiest: 2,042 transactions', '0xa548f4431ec271b95b8BDf86c85147C3bBBC5A4f'],
  ['43114', 'deploys contracts and mints tokens', '0x58A57ed9d8d624cBD12e2C467D34787555bB1b25'],
  ['43114', 'only ever received internal transactions', '0x48A0B31dD707cFb02cbC8706fE88C676630A796b'],
  ['43114', 'only holds NFTs', '0x33ed23F86F8e72507A26748dC0A450590D7c679B'],
  ['43114', 'never took part in anything', '0xFD524703A3B2929DE26b5ae154243d3202106b0e'],
  ['1', 'Tether USD, a contract of Ethereum mainnet', '0xdAC17F958D2ee523a2206206994597C13D831ec7'],
] as const
