/** A bridge, and the contracts that its users send to or receive from. */
type Bridge = {
  name: string
  /** Where the contracts were read, below rotkehlchen/ of rotki ef14aad. */
  source: string
  /** By chain id. */
  contracts: Readonly<Record<string, readonly string[]>>
}

/**
 * Bridges whose contracts are known. Those that burn what is sent, such as Circle's CCTP, have no counterparty, and are recognized
 * by their methods.
 */
const BRIDGES: readonly Bridge[] = [
  {
    name: 'Across',
    source: 'chain/*/modules/across/constants.py',
    contracts: {
      '1': ['0x5c7bcd6e7de5423a257d81b442095a1a6ced35c5'],
      '10': ['0x6f26bf09b1c792e3228e5467807a900a503c0281'],
      '56': ['0x4e8e101924ede233c13e2d8622dc8aed2872d505'],
      '137': ['0x9295ee1d8c5b022be115a2ad3c30c72e34e7f096'],
      '8453': ['0x09aea4b2242abc8bb4bb78d537a67a245a7bec64'],
      '42161': ['0xe35e9842fceaca96570b734083f4a58e8f7c5f2a'],
    },
  },
  {
    name: 'Arbitrum',
    source:
      'chain/ethereum/modules/arbitrum_one_bridge/decoder.py and chain/arbitrum_one/modules/arbitrum_one_bridge/decoder.py',
    contracts: {
      '1': [
        '0x8315177ab297ba92a06054ce80a67ed4dbd7ed3a',
        '0x011b6e24ffb0b5f5fcc564cf4183c5bbbc96d515',
        '0x72ce9c846789fdb6fc1f34ac4ad25dd9ef7031ef',
        '0x4dbd4fc535ac27206064b68ffcf827b0a60bab3f',
      ],
      '42161': [
        '0x0000000000000000000000000000000000000064',
        '0x09e9222e96e7b4ae2a407b98d48e330053351eee',
        '0x5288c571fd7ad117bea99bf60fe0846c4e84f933',
      ],
    },
  },
  {
    name: 'Base',
    source: 'chain/ethereum/modules/base_bridge, chain/*/modules/superchain_bridge',
    contracts: {
      '1': ['0x49048044d57e1c92a77f79988d21fa8faf74e97e', '0x3154cf16ccdb4c6d922629664174b904d80f2c35'],
      '8453': ['0x4200000000000000000000000000000000000010'],
    },
  },
  {
    name: 'Optimism',
    source:
      'chain/ethereum/modules/superchain_bridge/op/decoder.py and chain/optimism/modules/superchain_bridge',
    contracts: {
      '1': [
        '0x99c9fc46f92e8a1c0dec1b1747d010903e884be1',
        '0x10e6593cdda8c58a1d0f14c5164b376352a55f2f',
        '0xbeb5fc579115071764c7423a4f12edde41f106ed',
        '0x467194771dae2967aef3ecbedd3bf9a310c76c65',
      ],
      '10': ['0x4200000000000000000000000000000000000010'],
    },
  },
  {
    name: 'Polygon PoS',
    source: 'chain/ethereum/modules/polygon_pos_bridge/decoder.py',
    contracts: {
      '1': [
        '0xa0c68c638235ee32657e8f720a23cec1bfc77c77',
        '0x8484ef722627bf18ca5ae6bcf031c23e6e922b30',
        '0x40ec5b33f54e0e8a33a975908c5ba1c14e5bbbdf',
        '0x401f6c983ea34274ec46f84d70b31c151321188b',
      ],
    },
  },
  {
    name: 'OmniBridge',
    source: 'chain/*/modules/omnibridge/decoder.py',
    contracts: {
      '1': ['0x88ad09518695c6c3712ac10a214be5109a655671'],
      '100': ['0xf6a78083ca3e2a662d6dd1703c939c8ace2e268d'],
    },
  },
  {
    name: 'xDai',
    source: 'chain/*/modules/xdai_bridge',
    contracts: {
      '1': ['0x4aa42145aa6ebf72e164c9bbc74fbd3788045016'],
      '100': ['0x7301cfa0e1756b71869e93d4e4dca5c7d0eb0aa6'],
    },
  },
  {
    name: 'Scroll',
    source: 'chain/*/modules/scroll_bridge/decoder.py',
    contracts: {
      '1': [
        '0xf8b1378579659d8f7ee5f3c929c2f3e332e41fd6',
        '0x7f2b8c31f88b6006c382775eea88297ec1e3e905',
        '0xd8a791fe2be73eb6e6cf1eb0cb3f36adc9b3f8f9',
        '0xf1af3b23de0a5ca3cab7261cb0061c0d779a5c7b',
        '0x6774bcbd5cecef1336b5300fb5186a12ddd8b367',
      ],
      '534352': [
        '0x6ea73e05adc79974b931123675ea8f78ffdacdf0',
        '0xe2b4795039517653c5ae8c2a9bfdd783b48f447a',
        '0x33b60d5dd260d453cac3782b0bdc01ce84672142',
        '0x781e90f1c8fc4611c9b7497c3b47f99ef6969cbc',
      ],
    },
  },
  {
    name: 'Hop',
    source: 'chain/*/modules/hop/constants.py',
    contracts: {
      '1': [
        '0xb8901acb165ed027e32754e0ffe830802919727f',
        '0x3666f603cc164936c1b87e207f36beba4ac5f18a',
        '0x3e4a3a4796d16c0cd582c382691998f7c06420b6',
        '0x22b1cbb8d98a01a3b71d034bb899775a76eb1cc2',
        '0x3d4cc8a61c7528fd86c55cfe061a78dcba48edd1',
        '0x914f986a44acb623a277d6bd17368171fcbe4273',
        '0x893246facf345c99e4235e5a7bbee7404c988b96',
        '0x36443fc70e073fe9d50425f82a3ee19fef697d62',
        '0x87269b23e73305117d0404557badc459ced0dbec',
        '0xf074540eb83c86211f305e145eb31743e228e57d',
      ],
      '10': [
        '0x83f6244bd87662118d96d9a6d44f09dfff14b30e',
        '0x86ca30bef97fb651b8d866d45503684b90cb3312',
        '0xa81d244a1814468c734e5b4101f7b9c0c577a8fc',
        '0x2ad09850b0ca4c7c1b33f5acd6cbabcab5d6e796',
        '0x46ae9bab8cea96610807a275ebd36f8e916b5c61',
        '0x7d269d3e0d61a05a0ba976b7dbf8805bf844af3f',
        '0x7191061d5d4c60f598214cc6913502184baddf18',
        '0xb3c68a491608952cb1257fc9909a537a0173b63b',
        '0x03d7f750777ec48d39d080b020d83eb2cb4e3547',
        '0x16284c7323c35f4960540583998c98b1cfc581a7',
        '0xf11ebb94ec986ea891aec29cff151345c83b33ec',
        '0x33fe5bb8da466da55a8a32d6ade2bb104e2c5201',
        '0x29fba7d2a6c95db162ee09c6250e912d6893dca6',
        '0xa0075e8ce43dcb9970cb7709b9526c1232cc39c2',
        '0x19b2162ca4c2c6f08c6942bfb846ce5c396acb75',
      ],
      '100': [
        '0xd8926c12c0b2e5cd40cfda49ecaff40252af491b',
        '0x03d7f750777ec48d39d080b020d83eb2cb4e3547',
        '0x25d8039bb044dc227f741a9e381ca4ceae2e6ae8',
        '0x76b22b8c1079a44f1211d867d68b1eda76a635a7',
        '0xfd5a186a7e8453eb867a360526c5d987a00acac2',
        '0x49094a1b3463c4e2e82ca41b8e6a023bdd6e222f',
        '0x7ac71c29fedf94bac5a5c9ab76e1dd12ea885ccc',
        '0x86ca30bef97fb651b8d866d45503684b90cb3312',
        '0x0460352b91d7cf42b0e1c1c30f06b602d9ef2238',
        '0x6c928f435d1f3329babb42d69ccf043e3900ecf1',
        '0x6f03052743cd99ce1b29265e377e320cd24eb632',
      ],
      '137': [
        '0xb98454270065a31d71bf635f6f7ee6a518dfb849',
        '0xc315239cfb05f1e130e7e28e603cea4c014c57f0',
        '0x25d8039bb044dc227f741a9e381ca4ceae2e6ae8',
        '0x76b22b8c1079a44f1211d867d68b1eda76a635a7',
        '0x6c9a1acf73bd85463a46b0afc076fbdf602b690b',
        '0x8741ba6225a6bf91f9d73531a98a89807857a2b3',
        '0x553bc791d746767166fa3888432038193ceed5e2',
        '0x884d1aa15f9957e1aeaa86a82a72e49bc2bfcbe3',
        '0xecf268be00308980b5b3fcd0975d47c4c8e1382a',
        '0x28529fec439cff6d7d1d5917e956dee62cd3be5c',
        '0x58c61aee5ed3d748a1467085ed2650b697a66234',
      ],
      '8453': [
        '0x3666f603cc164936c1b87e207f36beba4ac5f18a',
        '0x10541b07d8ad2647dc6cd67abd4c03575dade261',
        '0x46ae9bab8cea96610807a275ebd36f8e916b5c61',
        '0x7d269d3e0d61a05a0ba976b7dbf8805bf844af3f',
        '0xe22d2bedb3eca35e6397e0c6d62857094aa26f52',
      ],
      '42161': [
        '0x3749c4f034022c39ecaffaba182555d4508caccc',
        '0x33ceb27b39d2bb7d2e61f7564d3df29344020417',
        '0x0e0e3d2c5c292161999474247956ef542cabf8dd',
        '0xe22d2bedb3eca35e6397e0c6d62857094aa26f52',
        '0x72209fe68386b37a40d6bca04f78356fd342491f',
        '0xcb0a4177e0a60247c0ad18be87f8edff6dd30283',
        '0x7ac115536fe3a185100b2c4de4cb328bf3a58ba6',
        '0xe7f40bf16ab09f4a6906ac2caa4094ad2da48cc2',
        '0x25fb92e505f752f730cad0bd4fa17ece4a384266',
        '0xc315239cfb05f1e130e7e28e603cea4c014c57f0',
        '0x16e08c02e4b78b0a5b3a917ff5feaedd349a5a95',
        '0xea5abf2c909169823d939de377ef2bf897a6ce98',
        '0x50a3a623d00fd8b8a4f3cbc5aa53d0bc6fa912dd',
      ],
    },
  },
]

const contracts = new Set(
  BRIDGES.flatMap((bridge) =>
    Object.entries(bridge.contracts).flatMap(([chain, addresses]) =>
      addresses.map((address) => `${chain} ${address}`),
    ),
  ),
)

/** Whether a contract belongs to a known bridge. */
export const isBridgeContract = (chain: string, contract: string | null): boolean =>
  contracts.has(`${chain} ${contract}`)
