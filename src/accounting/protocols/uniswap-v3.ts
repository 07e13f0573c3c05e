import type { Protocol } from './protocol.ts'

/** The contracts of the NFTs that represent positions. */
const POSITIONS = {
  '1': ['0xc36442b4a4522e871399cd717abdd847ab11fe88'],
  '10': ['0xc36442b4a4522e871399cd717abdd847ab11fe88'],
  '137': ['0xc36442b4a4522e871399cd717abdd847ab11fe88'],
  '8453': ['0x03a520b32c04bf3beef7beb72e919cf822ed34f1'],
  '42161': ['0xc36442b4a4522e871399cd717abdd847ab11fe88'],
  '43114': ['0x655c406ebfa14ee2006250925e54ec43ad184f8b'],
}

/** `collect` pays out both what was added and what was earned, so it is received. */
export const uniswapV3: Protocol = {
  name: 'Uniswap V3',
  source: 'https://docs.uniswap.org/contracts/v3/reference/deployments/',
  methods: [
    { method: 'mint', contracts: POSITIONS, kind: 'deposit' },
    { method: 'multicall', contracts: POSITIONS, kind: 'deposit' },
  ],
}
