/** The ticker and decimals of a token, its contract in lower case, and the lists that name it so (letters below). */
type WellKnownContract = readonly [ticker: string, decimals: number, contract: string, sources: string]

/**
 * Tokens by chain id, one a line: ticker, decimals, contract, lists. Each contract is in at least two independent public
 * lists with this ticker, ignoring case, and with these decimals. USDC.e is USDC in some lists, USDT is USDT0 in newer ones,
 * and WETH of Mantle is ETH in list N.
 *
 * | letter | list | as of |
 * |---|---|---|
 * | A | bgd-labs/aave-address-book f61c976, tokenlist.json | 2026-05-01 |
 * | B | balancer/tokenlists 98df981 | 2026-08-05 |
 * | E | ava-labs/avalanche-bridge-resources 97e5c93 | 2024-01-16 |
 * | G, K, M | pancakeswap/token-list e7ba44e: CoinGecko's list, its own lists, CoinMarketCap's list | 2025-02-06 |
 * | J | traderjoe-xyz/joe-tokenlists 5a6c6af | 2025-02-07 |
 * | L | Consensys/linea-token-list 93b2258 | 2026-07-10 |
 * | N | mantlenetworkio/mantle-token-lists 593ee5c | 2026-05-28 |
 * | O | ethereum-optimism/ethereum-optimism.github.io 9db0b00 | 2026-06-18 |
 * | P | pangolindex/tokenlists caf8fac | 2026-07-28 |
 * | R | scroll-tech/token-list 6eeaa26 | 2026-02-06 |
 * | S | sushiswap/list 088f547 | 2024-10-16 |
 * | U | Uniswap/default-token-list 49f39bd | 2026-08-06 |
 * | V | viaprotocol/tokenlists 3ff5b3a: entries of 1inch, CronaSwap, ElkFinance, OpenOcean, QuickSwap and Ubeswap | 2022-11-24 |
 * | W | cowprotocol/token-lists 4a002ef: CowSwap.json and CoinGecko's lists | 2026-08-22 |
 */
const TABLE: Readonly<Record<string, string>> = {
  // Ethereum
  '1': `
    WBTC     8 0x2260fac5e5542a773aa44fbcfedf7c193bc2c599 ABKNORSUVW
    USDC     6 0xa0b86991c6218b36c1d19d4a2e9eb0ce3606eb48 ABJKNORSUVW
    USDT     6 0xdac17f958d2ee523a2206206994597c13d831ec7 ABJKORSUVW
    DAI     18 0x6b175474e89094c44da98b954eedeac495271d0f ABJKORSUVW
    LINK    18 0x514910771af9ca656af840dff83e8264ecf986ca ABKOSUVW
    UNI     18 0x1f9840a85d5af5bf1d1762f925bdaddc4201f984 ABNORSUVW
    AAVE    18 0x7fc66500c84a76ad7e9c93437bfc5ac33e2ddae9 ABORSUVW
    MKR     18 0x9f8f72aa9304c8b593d555f12ef6589cc3a579a2 AOSUVW
    CRV     18 0xd533a949740bb3306d119cc777fa900ba034cd52 ABKNORSUVW
    SNX     18 0xc011a73ee8576fb46f5e1c5751ca3b9fe0af2a6f ABKOSUVW
    COMP    18 0xc00e94cb662c3520282e6f5717214004a7f26888 BNOSUVW
    LDO     18 0x5a98fcbea516cf06857215779fd812ca3bef1b32 ABKOSUVW
    ENS     18 0xc18360217d8f7ab5e7c516566761ea12ce7f9d72 ABKOSUVW
    GRT     18 0xc944e90c64b2c07662a292be6244bdf05cda44a7 BOSUVW
    YFI     18 0x0bc529c00c6401aef6d220be8c6ea1667f6ad93e ABOSUVW
    1INCH   18 0x111111111117dc0aa78b770fa6a738034120c302 ABOSUVW
    BAL     18 0xba100000625a3754423978a60c9317c58a424e3d ABORSUVW
    stETH   18 0xae7ab96520de3a18e5e111b5eaab095312d7fe84 ABVW
    wstETH  18 0x7f39c581f595b53c5cb19bd0b3f8da6c935e2ca0 ABKNORSVW
    rETH    18 0xae78736cd615f374d3085123a210448e74fc6393 ABKORVW
    cbETH   18 0xbe9895146f7af43049ca1c1ae358b0541ea49704 ABKOSUVW
    cbBTC    8 0xcbb7c0000ab88b473b1f5afd9ef808440eed33bf ABKUW
    weETH   18 0xcd5fe23c85820f7b72d0926fc9b05b43e359b7ee ABKOW
    ezETH   18 0xbf5495efe5db9ce00f80364c8b423567e58d2110 ABW
    TUSD    18 0x0000000000085d4780b73119b644ae5ecd22b376 ABKOSVW
    crvUSD  18 0xf939e0a03fb07f59a73314e73794be0e57ac1b4e ABNOW
    GHO     18 0x40d16fc0246ad3160ccc09b8d0d3a2cd28ae6c2f ABSW
    PYUSD    6 0x6c3ea9036406852006290770bedfcaba0e23a0e8 ABKUW
    USDe    18 0x4c9edd5852cd905f086c759e8383e09bff1e68b3 ABKNW
    sUSDe   18 0x9d39a5de30e57443bff2a8307a4256c8797a3497 ABNW
    USDS    18 0xdc035d45d973e3ec169d2276ddab16f1e407384f ABUW
    sDAI    18 0x83f20f44975d03b1b09e64809b757c47f942beea ABOW
    EURC     6 0x1abaea1f7c830bd89acc67ec4af516284b1bc33c AORUW
    RLUSD   18 0x8292bb45bf1ee4d140127049757c2e0ff06317ed ABUW
    MATIC   18 0x7d1afa7b718fb893db30a3abc0cfc608aacfebb0 BKUVW
    POL     18 0x455e53cbb86018ac2b8092fdcd39d8444affc3f6 UW
    SHIB    18 0x95ad61b0a150d79219dcf64e1e6cc01f0b64c4ce BNUVW
    PEPE    18 0x6982508145454ce325ddbe47a25d4ec3d2311933 BKNOSUW
    PAXG    18 0x45804880de22913dafe09f4980848ece6ecbaf78 BSUVW
    MNT     18 0x3c3a81e81dc49a522a592e7622a7e711c06bf354 KNUW`,
  // OP Mainnet
  '10': `
    OP      18 0x4200000000000000000000000000000000000042 ABOSUV
    USDC     6 0x0b2c639c533813f4aa9d7837caf62653d097ff85 ABOSU
    USDC.e   6 0x7f5c764cbc14f9669b88837ca1490cca17c31607 ABOSUV
    USDT     6 0x94b008aa00579c1307b0ef2c499ad98a8ce58e58 ABOSV
    DAI     18 0xda10009cbd5d07dd0cecc66161fc93d7c9000da1 ABOSV
    WBTC     8 0x68f180fcce6836688e9084f035309e29bf0a2095 ABOSV
    LINK    18 0x350a791bfc2c21f9ed5d10980dad2e2638ffa7f6 ABOSV
    AAVE    18 0x76fb31fb4af56892a25e32cfc43de717950c9278 ABOS
    wstETH  18 0x1f32b1c2345538c0c6f582fcb022739c4a194ebb ABOSV
    rETH    18 0x9bcef72be871e61ed4fbbc7630889bee758eb81d ABOS`,
  // Cronos
  '25': `
    USDC     6 0xc21223249ca28397b4b6541dffaecc539bff0c59 SV
    USDT     6 0x66e428c3f67a68878562e79a0234c1f83c208770 SV
    DAI     18 0xf2001b145b43032aaf5ee2884e456ccd805f677d SV
    WBTC     8 0x062e66477faf219f25d27dced647bf57c3107d52 SV`,
  // DOT LTC BNB Smart Chain
  '56': `
    USDC    18 0x8ac76a51cc950d9822d68b83fe1ad97b32cd580d AGJKMSVW
    USDT    18 0x55d398326f99059ff775485246999027b3197955 AGJKMSV
    BUSD    18 0xe9e7cea3dedca5984780bafc599bd69add087d56 GKMSVW
    DAI     18 0x1af3f329e8be154074d8769d1ffa4ee058b1dbc3 GKMSVW
    ETH     18 0x2170ed0880ac9a755fd29b2688956bd959f933f8 AGKMS
    BTCB    18 0x7130d2a12b9bcbfae4f2634d864a1ee1ce3ead9c AGKMSVW
    CAKE    18 0x0e09fabb73bd3ade0a17ecc321fd13a19e81ce82 AGKMSVW
    XRP     18 0x1d2f0da169ceb9fc7b3144628db156f3f6c60dbe GKSVW
    ADA     18 0x3ee2200efb3400fabb9aacf31297cbdd1d435d47 GKMSVW
    LINK    18 0xf8a0bf9cf54bb92f17374d9e9a321e6a111a51bd GKMSVW
    UNI     18 0xbf5140a22578168fd562dccf235e5d43a02ce9b1 GKMSVW
    DOGE     8 0xba2ae424d960c26247dd6c32edc70b295c744c43 GKMVW
    SOL     18 0x570a5d26f7765ecb712c0924e4de545b89fd43df GKMW
    FDUSD   18 0xc5f0f7b66764f6ec8c8dff7ba683102295e16409 AGKMW
    WBETH   18 0xa2e3356610840701bdf5611a53974510ae27e2e1 GKMW`,
  // Gnosis
  '100': `
    WETH    18 0x6a023ccd1ff6f2045c3309768ead9e68f978f6e1 ABSVW
    USDC     6 0xddafbb505ad214d7b80b1f830fccc89b60fb7a83 ABSVW
    USDC.e   6 0x2a22f9c3b484c3629090feed35f17ff8f88f76f0 ABW
    USDT     6 0x4ecaba5870353805a9f068101a40e0f32ed605c6 BSVW
    GNO     18 0x9c58bacc331c9aa871afd802db6379a98e80cedb ABSVW
    WBTC     8 0x8e5bbbb09ed1ebde8674cda39a0c169401db4252 BSVW
    LINK    18 0xe2e73a1c69ecf83f464efce6a5be353a37ca09b2 SVW
    wstETH  18 0x6c76971f98945ae98dd7d4dfca8711ebea946ea6 ABSW
    sDAI    18 0xaf204776c7245bf4147c2612bf6e5972ee483701 ABW`,
  // miMATIC SAND Polygon PoS
  '137': `
    WETH    18 0x7ceb23fd6bc0add59e62ac25578270cff1b9f619 ABSUVW
    WBTC     8 0x1bfd67037b42cf73acf2047067bd4f2c47d9bfd6 ABSUVW
    USDC     6 0x3c499c542cef5e3811e1192ce70d8cc03d5c3359 ABSUW
    USDC.e   6 0x2791bca1f2de4661ed88a30c99a7a9449aa84174 ABSUVW
    USDT     6 0xc2132d05d31c914a87c6611c10748aeb04b58e8f ABSUVW
    DAI     18 0x8f3cf7ad23cd3cadbd9735aff958023239c6a063 ABSUVW
    LINK    18 0x53e0bca35ec356bd5dddfebbd1fc0fd03fabad39 ABSUVW
    AAVE    18 0xd6df932a45c0f255f85145f286ea0b292b21c90b ABSUVW
    CRV     18 0x172370d5cd63279efa6d502dab29171933a610af ABSUVW
    BAL     18 0x9a71012b13ca4d3d0cdc72a177df3ef03b0e76a3 ABSUVW
    UNI     18 0xb33eaad8d922b1083446dc23f610c2567fb5180f BSUVW
    wstETH  18 0x03b54a6e9a984069379fae1a4fc4dbae93b3bccd ABW
    MaticX  18 0xfa68fb4628dff1028cfec22b4162fccd0d45efb6 ABVW
    stMATIC 18 0x3a58a54c066fdc0f2d55fc9c89f0415c92ebf3c4 ABVW`,
  // Sonic
  '146': `
    wS      18 0x039e2fb66102314ce7b64ce5ce3e5183bc94ad38 AB
    WETH    18 0x50c42deacd8fc9773493ed674b675be577f2634b AB
    USDC.e   6 0x29219dd400f2bf60e5a23d13be72b486d4038894 AB
    stS     18 0xe5da20f15420ad15de0fa650600afc998bbe3955 AB`,
  // zkSync Era
  '324': `
    WETH    18 0x5aea5775959fbc2557cc8789bc1bf90a239d9a91 AKS
    USDC     6 0x1d17cbcf0d6d143135ae902365d2e5e2a16538d4 AK
    USDC.e   6 0x3355df6d4c9c3035724fd0e3914de96a5a83aaf4 KS
    USDT     6 0x493257fd37edb34451f62edf8d2a0c418852ba4c AK
    WBTC     8 0xbbeb516fb02a01611cbbe0453fe3c580d7281011 KS
    ZK      18 0x5a7d6b2f92c77fad6ccabd7ee0624e64907eaf3e AKU
    wstETH  18 0x703b52f2b28febcb60e1372858af5b18849fe867 AK`,
  // Mantle
  '5000': `
    WETH    18 0xdeaddeaddeaddeaddeaddeaddeaddeaddead1111 AN
    USDC     6 0x09bc4e0d864854c6afb6eb9a9cdf58ac190d0df9 AN
    USDe    18 0x5d3a1ff2b6bab83b63cd9ad0787074081a52ef34 AN
    sUSDe   18 0x211cc4dd073734da055fbf44a2b4667d5e5fe5d2 AN`,
  // Base
  '8453': `
    USDC     6 0x833589fcd6edb6e08f4c7c32d4f71b54bda02913 ABKOSUW
    USDbC    6 0xd9aaec86b65d86f6a7b5b1b0c42ffa531710b6ca ABKOSUW
    DAI     18 0x50c5725949a6f0c72e6c4a641f24049a917db0cb BKOSUW
    cbETH   18 0x2ae3f1ec7f1f5012cfeab0185bfc7aa3cf0dec22 ABKOSUW
    cbBTC    8 0xcbb7c0000ab88b473b1f5afd9ef808440eed33bf ABKUW
    wstETH  18 0xc1cba3fcea344f92d9239c08c0568f6f2f0ee452 ABKOSW
    rETH    18 0xb6fe221fe9eef5aba221c348ba20a1bf5e73624c BOW
    weETH   18 0x04c0599ae5a44757c0af6f9ec3b93da8976c150a ABKW
    AERO    18 0x940181a94a35a4569e4529a3cdfb74e38fd98631 BKUW
    EURC     6 0x60a3e35cc302bfa44cb288bc5a4f316fdb1adb42 ABUW
    GHO     18 0x6bb7a212910682dcfdbd5bcbb3e28fb4e8da10ee ABW
    USDT     6 0xfde4c96c8593536e31f229ea8f37b2ada2699bb2 BKOW
    tBTC    18 0x236aa50979d5f3de3bd1eeb40e81137f22ab794b ABKOW`,
  // Arbitrum One
  '42161': `
    WETH    18 0x82af49447d8a07e3bd95bd0d56f35241523fbab1 ABJKSVW
    ARB     18 0x912ce59144191c1204e64559fe8253a0e49e6548 ABJKSW
    USDC     6 0xaf88d065e77c8cc2239327c5edb3a432268e5831 ABJKSW
    USDC.e   6 0xff970a61a04b1ca14834a43f5de4533ebddb5cc8 BJKSUW
    USDT     6 0xfd086bc7cd5c481dcc9c85ebe478a1c0b69fcbb9 BJKSUVW
    DAI     18 0xda10009cbd5d07dd0cecc66161fc93d7c9000da1 ABJKSVW
    WBTC     8 0x2f2a2543b76a4166549f7aab2e75bef0aefc5b0f ABJKSVW
    LINK    18 0xf97f4df75117a78c1a5a0dbb814af92458539fb4 ABJKSVW
    UNI     18 0xfa7f8980b0f1e64a2062791cc3b0871572f1f7f0 BSVW
    AAVE    18 0xba5ddd1f9d7f570dc94a51479a000e3bce967196 ABW
    GMX     18 0xfc5a1a6eb076a2c7ad06ed22c90d7e710e35ad0a BJKSUVW
    wstETH  18 0x5979d7b546e38e414f7e9822514be443a4800529 ABJKSVW
    rETH    18 0xec70dcb4a1efa46b8f2d97c310c9c4790ba5ffa8 ABKW
    weETH   18 0x35751007a407ca6feffe80b3cb397736d2cf4dbe ABJKSW
    GHO     18 0x7dff72693f6a4149b17e7c6314655f6a9f7c8b33 ABW
    CRV     18 0x11cdb42b0eb46d95f990bedd4695a6e3fa034978 BSVW`,
  // Celo
  '42220': `
    cUSD    18 0x765de816845861e75a25fca122bb6898b8b1282a ASV
    cEUR    18 0xd8763cba276a3738e6de85b4b3bf5fded6d6ca73 ASV
    USDC     6 0xceba9300f2b948710d2653dd7b07f33a8b32118c AS
    USDT     6 0x88eec49252c8cbc039dcdb394c0c2ba2f1637ea0 SV
    WETH    18 0xd221812de1bd094f35587ee8e174b07b6167d9af AO`,
  // Avalanche C-Chain
  '43114': `
    USDC     6 0xb97ef9ef8734c71904d8002f8b6bc66dd9c48a6e ABJPSUVW
    USDC.e   6 0xa7d7079b0fead91f3e65f86e8915cb59c1a4c664 AEJPSW
    USDT     6 0x9702230a8ea53601f5cd2dc00fdbc13d4df4a8c7 ABJPSVW
    USDT.e   6 0xc7198437980c041c805a1edcba50c1ce5db95118 AEJPS
    DAI.e   18 0xd586e7f844cea2f87f50152665bcbc2c279d8d70 ABEJPU
    WETH.e  18 0x49d5c2bdffac6ce2bfdb6640f4f80f226bc10bab ABEJP
    WBTC.e   8 0x50b7545627a5162f82a992c33b87adc75187b218 ABEJPW
    BTC.b    8 0x152b9d0fdc40c096757f570a51e494bd4b943e50 ABJPSW
    LINK.e  18 0x5947bb275c521040051d82396192181b413227a3 ABEJP
    AAVE.e  18 0x63a72806098bd3d9520cc43356dd78afe5d386d9 ABEJP
    sAVAX   18 0x2b2c81e08f1af8835a78bb2a90ae924ace0ea4be ABJPVW
    JOE     18 0x6e84a6216ea6dacc71ee8e6b0a5b7322eebc0fdd BJPSVW
    PNG     18 0x60781c2586d68229fde47564546784ab3faca982 PVW
    QI      18 0x8729438eb15e2c8b576fcc6aecda6a148776c0f5 BJPVW
    BUSD    18 0x9c9e5fd8bbc25984b178fdce6117defa39d2db39 PSW
    MIM     18 0x130966628846bfd36ff31a822705796e8cb8c18d PSVW
    EURC     6 0xc891eb4cbdeff6e073e859e987815ed1505c2acd AJPUW
    AUSD     6 0x00000000efe302beaa2b3e6e1b18d08d69a9012a ABJPUW
    GMX     18 0x62edc0692bd897d2295872a9ffcac5425011c661 BJPSUVW
    GHO     18 0xfc421ad3c883bf9e7c4f42de845c4e4405799e73 ABPW`,
  // Linea
  '59144': `
    USDC     6 0x176211869ca2b568f2a7d4ee941e073a821ee1ff AKLSW
    USDT     6 0xa219439258ca9da29e9cc4ce5596924745e12b93 AKLW
    DAI     18 0x4af15ec2a0bd43db75dd04e62faa3b8ef36b00d5 KLW
    WBTC     8 0x3aab2285ddcddad8edf438c1bab47e1a9d05a9b4 AKLW
    wstETH  18 0xb5bedd42000b71fdde22d3ee8a79bd49a568fc8f AKLW
    weETH   18 0x1bf74c010e6320bab11e2e5a532b5ac15e0b8aa6 AW
    ezETH   18 0x2416092f143378750bb29b79ed961ab195cceea5 AKW`,
  // Scroll
  '534352': `
    WETH    18 0x5300000000000000000000000000000000000004 AKRS
    USDC     6 0x06efdbff2a14a7c8e15944d1f4a48f9f95f663a4 AKRS
    USDT     6 0xf55bec9cafdbe8730f096aa55dad6d22d44099df KRS
    DAI     18 0xca77eb3fefe3725dc33bccb54edefc3d9f764f97 RS
    WBTC     8 0x3c1bca5a656e69edcd0d4e36bebb3fcdaca60cf1 KRS
    wstETH  18 0xf610a9dfb7c89644979b4a0f27063e9e7d7cda32 AR`,
  // Sepolia
  '11155111': `
    USDC     6 0x1c7d4b196cb0c7b01d743fbc6116a902379c7238 BO`,
}

/** The rows of the table by chain id. */
export const WELL_KNOWN_CONTRACTS: Readonly<Record<string, readonly WellKnownContract[]>> =
  Object.fromEntries(
    Object.entries(TABLE).map(([chain, rows]) => [chain, rows.trim().split('\n').map(readRow)]),
  )

function readRow(row: string): WellKnownContract {
  const [ticker = '', decimals, contract = '', sources = ''] = row.trim().split(/ +/)
  return [ticker, Number(decimals), contract, sources]
}
