import type { Protocol } from './protocol.ts'

const RETH = { '1': ['0xae78736cd615f374d3085123a210448e74fc6393'] }

/** Deposits are those of any pool: `pools.ts`. */
export const rocketPool: Protocol = {
  name: 'Rocket Pool',
  source:
    'RocketTokenRETH.sol of rocket-pool/rocketpool; the address in rotki ef14aad, chain/ethereum/modules/hop/constants.py',
  methods: [{ method: 'burn', contracts: RETH, kind: 'withdrawal' }],
}
