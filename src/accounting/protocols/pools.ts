import type { Protocol } from './protocol.ts'

/** Names of methods that pools, vaults and lending protocols have in common, such as Aave and Uniswap V2. */
export const pools: Protocol = {
  name: 'Pools and lending protocols',
  source: 'their common names',
  methods: [
    { method: 'addLiquidity*', kind: 'deposit', transfersShares: true },
    { method: 'add_liquidity*', kind: 'deposit', transfersShares: true },
    { method: 'deposit*', kind: 'deposit' },
    { method: 'stake*', kind: 'deposit' },
    { method: 'supply*', kind: 'deposit' },
    { method: 'removeLiquidity*', kind: 'withdrawal', transfersShares: true },
    { method: 'remove_liquidity*', kind: 'withdrawal', transfersShares: true },
    { method: 'withdraw*', kind: 'withdrawal' },
    { method: 'redeem*', kind: 'withdrawal' },
    { method: 'unstake*', kind: 'withdrawal' },
  ],
}
