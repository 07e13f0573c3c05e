import type { Protocol } from './protocol.ts'

/** The contracts of the NFTs that represent positions. */
const POSITIONS = {
  '1': ['0xbd216513d74c8cf14cf4747e6aaa6420ff64ee9e'],
  '10': ['0x3c3ea4b57a46241e54610e5f022e5c45859a1017'],
  '56': ['0x7a4a5c919ae2541aed11041a1aeee68f1287f95b'],
  '137': ['0x1ec2ebf4f37e7363fdfe3551602425af0b3ceef9'],
  '8453': ['0x7c5f5a4bbd8fd63184577525326123b519429bdc'],
  '42161': ['0xd88f38f930b7952f2db2432cb002e7abbf3dd869'],
}

/** What a position pays out was added or earned, so it is received. */
export const uniswapV4: Protocol = {
  name: 'Uniswap V4',
  source: 'rotki ef14aad, chain/*/modules/uniswap/v4/decoder.py',
  methods: [
    { method: 'modifyLiquidities', contracts: POSITIONS, kind: 'deposit' },
    { method: 'multicall', contracts: POSITIONS, kind: 'deposit' },
  ],
}
