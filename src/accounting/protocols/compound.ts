import type { Protocol } from './protocol.ts'

const COMPTROLLER = { '1': ['0x3d9819210a31b4961b30ef54be2aed79b9c9cd3b'] }

/** Contracts that do nothing but pay out the rewards of Compound III. */
const REWARDS = {
  '1': ['0x1b0e765f6224c21223aea2af16c1c46e38885a40'],
  '10': ['0x443ea0340cb75a160f31a440722dec7b5bc3c2e9'],
  '137': ['0x45939657d1ca34a8fa39a924b71d28fe8431e581'],
  '8453': ['0x123964802e6ababbe1bc9547d72ef1b69b00a6b1'],
  '42161': ['0x88730d254a2f7e6ac8388c3198afd694ba9f7fae'],
  '534352': ['0x70167d30964cbfdc315ecae02441af747be0c5ee'],
}

export const compound: Protocol = {
  name: 'Compound',
  source:
    'rotki ef14aad, chain/ethereum/modules/compound/constants.py and chain/*/modules/compound/v3/constants.py',
  methods: [
    { method: 'claimComp', contracts: COMPTROLLER, kind: 'reward' },
    { method: 'claim', contracts: REWARDS, kind: 'reward' },
  ],
}
