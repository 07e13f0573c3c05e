import type { Protocol } from './protocol.ts'

/** Distributors that do nothing but pay out an airdrop. */
export const airdrops: Protocol = {
  name: 'Airdrops of Uniswap, ENS, Optimism and Arbitrum',
  source:
    'the distributors as listed by rotki ef14aad, chain/ethereum/airdrops.py and modules, and by the projects',
  methods: [
    {
      method: 'claim',
      contracts: {
        '1': ['0x090d4613473dee047c3f2706764f49e0821d256e'],
        '10': ['0xfedfaf1a10335448b7fa0268f56d2b44dbd357de'],
        '42161': ['0x67a24ce4321ab3af51c2d0a4801c3e111d88c9d9'],
      },
      kind: 'airdrop',
    },
    {
      method: 'claimTokens',
      contracts: { '1': ['0xc18360217d8f7ab5e7c516566761ea12ce7f9d72'] },
      kind: 'airdrop',
    },
  ],
}
