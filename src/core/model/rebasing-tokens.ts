import { chainIdOf } from './chains.ts'

/** Tokens of Aave V3 that have the same address on several chains: of DAI, LINK, USDC, WBTC, WETH, USDT, AAVE and the coin. */
const AAVE_V3 = [
  '0x82e64f49ed5ec1bc6e43dad4fc8af9bb3a2312ee',
  '0x191c10aa4af7c30e871e70c95db0e4eb77237530',
  '0x625e7708f30ca75bfd92586e17077590c60eb4cd',
  '0x078f358208685046a11c85e8ad32895ded33a249',
  '0xe50fa9b3c56ffb159cb0fca61f5c9d750e8128c8',
  '0x6ab707aca953edaefbc4fd23ba73294241490620',
  '0xf329e36c7bf6e5e86ce2150875a84ce77f477375',
  '0x6d80113e533a2c0fe82eabd35f1875dcea89ea97',
]

/**
 * Tokens by chain whose balances change without Transfer events, so that sums of events are not balances. The tokens of
 * Aave are from bgd-labs/aave-address-book f61c976 (2026-05-01): those of the largest markets.
 */
const REBASING: Readonly<Record<string, readonly string[]>> = {
  '1': [
    // stETH and AMPL
    '0xae7ab96520de3a18e5e111b5eaab095312d7fe84',
    '0xd46ba6d942050d489dbd938a2c909a5d5039a161',
    // Aave V2: aUSDC, aUSDT, aDAI, aWETH, aWBTC, aLINK, aAAVE
    '0xbcca60bb61934080951369a648fb03df4f96263c',
    '0x3ed3b47dd13ec9a98b44e6204a523e766b225811',
    '0x028171bca77440897b824ca71d1c56cac55b68a3',
    '0x030ba81f1c18d280636f32af80b9aad02cf0854e',
    '0x9ff58f4ffb29fa2266ab25e75e2a8b3503311656',
    '0xa06bc25b5805d5f8d82847d191cb4af5a3e873e0',
    '0xffc97d72e13e01096502cb8eb52dee56f74dad7b',
    // Aave V3: of WETH, wstETH, WBTC, USDC, DAI, USDT and weETH
    '0x4d5f47fa6a74757f35c14fd3a6ef8e3c9bc514e8',
    '0x0b925ed163218f6662a35e0f0371ac234f9e9371',
    '0x5ee5bf7ae06d1be5997a1a72006fe6c607ec6de8',
    '0x98c23e9d8f34fefb1b7bd6a91b7ff122f4e16f5c',
    '0x018008bfb33d285247a21d44e50697654f754e63',
    '0x23878914efe38d27c4d67ab83ed1b93a74d4086a',
    '0xbdfa7b7893081b35fb54027489e2bc7a38275129',
  ],
  '10': [...AAVE_V3, '0x38d693ce1df5aadf7bc62595a37d667ad57922e5'],
  '137': [...AAVE_V3, '0xa4d94019934d8333ef880abffbf2fdd611c762bd'],
  '8453': [
    '0xd4a0e0b9149bcee3c920d2e00b5de09138fd8bb7',
    '0x4e65fe4dba92790696d040ac24aa414708f5c0ab',
    '0x0a1d576f3efef75b330424287a95a366e8281d54',
  ],
  '42161': [...AAVE_V3, '0x724dc807b04555b71ed48a6896b6f41593b8c637'],
  '43114': AAVE_V3,
}

/** Whether a contract is known to be of a rebasing token; `null` is the native coin. */
export const isRebasing = (chain: string, contract: string | null): boolean =>
  contract !== null && (REBASING[chainIdOf(chain)] ?? []).includes(contract)
