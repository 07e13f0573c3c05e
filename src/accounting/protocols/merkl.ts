import type { Protocol } from './protocol.ts'

/** The distributor has the same address on every chain. */
const DISTRIBUTOR = ['0x3ef3d8ba38ebe18db133cec108f4d14ce00dd9ae']

export const merkl: Protocol = {
  name: 'Merkl',
  source: 'rotki ef14aad, chain/evm/decoding/merkl',
  methods: [
    {
      method: 'claim',
      contracts: Object.fromEntries(
        ['1', '10', '56', '100', '137', '8453', '42161', '534352'].map((chain) => [chain, DISTRIBUTOR]),
      ),
      kind: 'reward',
    },
  ],
}
