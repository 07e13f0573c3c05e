import type { Protocol } from './protocol.ts'

/** Gateways of the native coin, to which a withdrawal transfers its share. */
const GATEWAYS = {
  '1': [
    '0x893411580e590d62ddbca8a703d61cc4a8c7b2b9',
    '0xa434d495249abe33e031fe71a969b81f3c07950d',
    '0xd01607c3c5ecaba394d8be377a08590149325722',
    '0xab911dfb2bb9e264ee836f30d3367618f8aef965',
    '0x702b6770a81f75964ca5d479f369efb31dfa7c32',
    '0x0b8c700917a6991fea7198ddfc80bc8962b5055d',
    '0x3167c452fa3fa1e5c16bb83bc0fde4519c464299',
    '0xd322a49006fc828f9b5b37ab215f99b4e5cab19c',
    '0xeffc18fc3b7eb8e676dac549e0c693ad50d1ce31',
    '0xcc9a0b7c43dc2a5f023bb9b738e45b0ef6b06e04',
  ],
  '10': [
    '0x60ee8b61a13c67d0191c851bec8f0bc850160710',
    '0xe9e52021f4e11dead8661812a0a6c8627aba2a54',
    '0x76d3030728e52deb8848d5613abade88441cbc59',
    '0x5f2508cae9923b02316254026cd43d7902866725',
  ],
  '56': [
    '0xe63eaf6dab1045689bd3a332bc596ffcf54a5c88',
    '0x0c2c95b24529664fe55d4437d7a31175cfe6c4f7',
    '0xd91d1331db4f436daf47ec9dd86decb8eef946b4',
  ],
  '100': [
    '0xfe76366a986b72c3f2923e05e6ba07b7de5401e4',
    '0x721b9abab6511b46b9ee83a1aba23bdacb004149',
    '0x90127a46207e97e4205db5ccc1ec9d6d43633fd4',
    '0x7b9c12915c594a68de96201cbdc79147f09da278',
    '0xb85d72ec1efe48168c4abc4eb855f8cbcd05ce38',
  ],
  '137': [
    '0xf5f61a1ab3488fcb6d86451846bcfa9cdc108eb0',
    '0xc1e320966c485ebf2a0a2a6d3c0dc860a156eb1b',
    '0x1e4b7a6b903680eab0c5dabcb8fd429cd2a9598c',
    '0xbc302053db3aa514a3c86b9221082f162b91ad63',
  ],
  '8453': [
    '0x729b3ea8c005abc58c9150fb57ec161296f06766',
    '0x8be473dcfa93132658821e67cbeb684ec8ea2e74',
    '0xa0d9c1e9e48ca30c8d8c3b5d69ff5dc1f6dffc24',
  ],
  '42161': [
    '0x5760e34c4003752329bc77790b1de44c2799f8c3',
    '0xecd4bd3121f9fd604ffac631bf6d41ec12f1fafb',
    '0x5283beced7adf6d003225c13896e536f2d4264ff',
  ],
}

/** Deposits, and withdrawals of tokens, are those of any lending protocol: `pools.ts`. */
export const aave: Protocol = {
  name: 'Aave',
  source: 'rotki ef14aad, chain/*/modules/aave/v3/decoder.py and chain/ethereum/modules/aave/v2/constants.py',
  methods: [
    { method: 'withdrawETH', contracts: GATEWAYS, kind: 'withdrawal', transfersShares: true },
    { method: 'withdrawETHWithPermit', contracts: GATEWAYS, kind: 'withdrawal', transfersShares: true },
  ],
}
