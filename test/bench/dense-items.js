// Items like those of a busy wallet: about 1.8 KB with 2.4 transfers and internal transactions each, swaps of 6 to 20
// transfers, NFTs with metadata, names in many scripts. They are pseudo-random, seeded with the number of the item, so that
// they are deterministic. Kinds, sizes and unusual names follow the chains in src/demo-server/chains (see their README).

/** Other wallets of the same owner, with many transfers between them. The service lists no transactions for these. */
export const OWN_WALLETS = Array.from(
  { length: 4 },
  (_, at) => `0x00000000000000000000000000000000000d${at}00d`,
)

export function denseItem({ wallet, n, block, index }) {
  const random = seededRandom(n)
  const kind = pickKind(random())
  const failed = random() < 0.03
  const isOut = random() < 0.65
  const party = () => (random() < OWN_SHARE ? quoted(skewed(OWN_WALLETS, random)) : skewed(PARTIES, random))
  const self = quoted(wallet)
  const builder = { random, self, party, logIndex: Math.floor(random() * 200), lists: [[], [], [], []] }
  if (!failed) kind.fill(builder)
  const native = nativeOf({
    random,
    n,
    block,
    index,
    wallet,
    kind,
    failed,
    isOut,
    self,
    other: party(),
  })
  const [erc20, erc721, erc1155, internal] = builder.lists
  return `{"nativeTransaction":${native},"erc20Transfers":[${erc20}],"erc721Transfers":[${erc721}],"erc1155Transfers":[${erc1155}],"internalTransactions":[${internal}]}`
}

/** Share of counterparties that are wallets of the same owner. */
const OWN_SHARE = 0.7

/** Pseudo-random numbers in [0, 1), seeded per item, because items are generated in any order. */
function seededRandom(seed) {
  let state = Math.imul(seed + 1, 0x9e3779b1) >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

/** Picks an element with a skewed distribution: a few elements often, most of them rarely. */
const skewed = (pool, random) => pool[Math.floor(pool.length * random() ** 3)]

const hex = (digits, random) => {
  let text = ''
  while (text.length < digits) {
    const eight = Math.floor(random() * 2 ** 32)
      .toString(16)
      .padStart(8, '0')
    text += random() < 0.5 ? eight.toUpperCase() : eight
  }
  return text.slice(0, digits)
}

const randomDigits = (random, maxLength) => {
  const length = 1 + Math.floor(random() * maxLength)
  let text = String(1 + Math.floor(random() * 9))
  while (text.length < length) text += String(Math.floor(random() * 1e9))
  return text.slice(0, length)
}

const quoted = (address) => `{"address":"${address}"}`
const staticRandom = seededRandom(-7)

const SCRIPTS = [
  'Router',
  'USD Coin',
  'Wrapped AVAX',
  'Tether USD₮',
  '狗狗幣',
  'Доге Коин',
  '日本円ステーブル',
  'Été Finance',
  'عملة مستقرة',
  'हिंदी टोकन',
  '🚀 To the Moon 🚀',
  'Free airdrop, claim at swap.example',
  '=HYPERLINK("http://x")',
  'Curve.fi USD-BTC-ETH',
  'Wrapped BTC',
  'ΑΒΓ Ελλάς',
  '김치 프리미엄',
  'Aave Avalanche WETH',
  '"Quoted" Coin',
  'GMX',
  'Chainlink Token',
  'Trader Joe LP',
  'BENQI Staked AVAX',
  'Liquid staking derivative of a long name, version 2',
]
const nameAt = (at) => SCRIPTS[at % SCRIPTS.length]
const symbolAt = (at) => [...nameAt(at).replace(/[^\p{L}\p{N}$]/gu, '')].slice(0, 6).join('')

/** Every third party has a name, like routers and tokens. */
const PARTIES = Array.from({ length: 600 }, (_, at) => {
  const address = `0x${hex(40, staticRandom)}`
  if (at % 3 !== 0) return quoted(address)
  return JSON.stringify({ name: nameAt(at), symbol: symbolAt(at), decimals: 18, address })
})

const TOKENS = Array.from({ length: 120 }, (_, at) => {
  const address = `0x${hex(40, staticRandom)}`
  const logoUri = `https://images.example/tokens/43114/${address}/${hex(32, staticRandom)}.png`
  const price = { value: Number((staticRandom() * 3000).toFixed(4)), currencyCode: 'usd' }
  const decimals = [18, 18, 6, 8, 0][at % 5]
  const extras = at % 2 === 0 ? { logoUri, ...(at % 4 === 0 ? { price } : {}) } : {}
  return JSON.stringify({
    address,
    name: nameAt(at),
    symbol: symbolAt(at),
    decimals,
    ...extras,
    ercType: 'ERC-20',
  })
})

const TRAITS = ['Background', 'Fur', 'Eyes', 'Hat', 'Clothes', 'Rarity', 'Origine', '背景']

function metadataOf(random, at) {
  const id = Math.floor(random() * 1e5)
  const traits = TRAITS.slice(0, 3 + Math.floor(random() * 5))
  const attributes = traits.map((trait_type) => ({ trait_type, value: nameAt(Math.floor(random() * 40)) }))
  const cid = hex(46, random)
  return {
    name: `${nameAt(at)} #${id}`,
    description: `${nameAt(at)} is a collection of 10,000 pieces, "hand drawn" by its community.\nHolders vote — ${nameAt(at + 3)}.`,
    imageUri: `ipfs://${cid}/${id}.png`,
    externalUrl: `https://collection.example/${cid.slice(0, 8)}/${id}`,
    attributes: JSON.stringify(attributes),
    indexStatus: 'INDEXED',
    metadataLastUpdatedTimestamp: 1_690_000_000 + id,
  }
}

/** A fixed pool of NFTs, so that the same metadata occurs repeatedly. */
const NFTS = Array.from({ length: 900 }, (_, at) => {
  const address = `0x${hex(40, staticRandom)}`
  const tokenId = at % 9 === 0 ? randomDigits(staticRandom, 77) : String(Math.floor(staticRandom() * 10_000))
  const tokenUri = `https://meta.example/${address}/${tokenId}.json`
  const name = nameAt(at + 5)
  const metadata = at % 4 === 3 ? { indexStatus: 'UNREACHABLE_TOKEN_URI' } : metadataOf(staticRandom, at)
  const ownerAddress = `0x${hex(40, staticRandom)}`
  return {
    address,
    name,
    symbol: symbolAt(at + 5),
    ercType: 'ERC-721',
    tokenId,
    tokenUri,
    metadata,
    ownerAddress,
  }
}).map((token) => JSON.stringify(token))

const ITEMS_1155 = Array.from({ length: 400 }, (_, at) => {
  const address = `0x${hex(40, staticRandom)}`
  const { attributes: properties, ...metadata } = metadataOf(staticRandom, at)
  const tokenUri = 'https://meta.example/{id}.json'
  const listed = at % 5 === 4 ? { indexStatus: 'UNINDEXED' } : { ...metadata, decimals: 0, properties }
  return { address, ercType: 'ERC-1155', tokenId: String(at), tokenUri, metadata: listed }
}).map((token) => JSON.stringify(token))

function parties({ random, self, party }) {
  return random() < 0.5 ? `"from":${self},"to":${party()}` : `"from":${party()},"to":${self}`
}

function addErc20(builder) {
  const { random, lists } = builder
  const value = randomDigits(random, 24)
  builder.logIndex += 1 + Math.floor(random() * 3)
  const token = skewed(TOKENS, random)
  lists[0].push(
    `{${parties(builder)},"logIndex":${builder.logIndex},"value":"${value}","erc20Token":${token}}`,
  )
}

function addErc721(builder) {
  builder.logIndex += 1
  const token = skewed(NFTS, builder.random)
  builder.lists[1].push(`{${parties(builder)},"logIndex":${builder.logIndex},"erc721Token":${token}}`)
}

function addBatch1155(builder, count) {
  builder.logIndex += 1
  const both = parties(builder)
  for (let at = 0; at < count; at += 1) {
    const value = randomDigits(builder.random, 3)
    const token = skewed(ITEMS_1155, builder.random)
    builder.lists[2].push(
      `{${both},"logIndex":${builder.logIndex},"value":"${value}","erc1155Token":${token}}`,
    )
  }
}

function addInternal(builder) {
  const { random, lists } = builder
  const value = randomDigits(random, 21)
  const gas = `"gasUsed":"${Math.floor(random() * 60_000)}","gasLimit":"${Math.floor(random() * 900_000)}"`
  const reverted = random() < 0.03
  lists[3].push(
    `{${parties(builder)},"internalTxType":"CALL","value":"${value}","isReverted":${reverted},${gas}}`,
  )
}

const repeat = (count, task) => {
  for (let at = 0; at < count; at += 1) task()
}

/** Kinds of transactions with their shares. `moves` is the probability that the transaction transfers native coins. */
const KINDS = [
  { share: 0.18, call: ['NATIVE_TRANSFER'], moves: 1, fill: () => {} },
  { share: 0.34, call: ['CONTRACT_CALL', '0xa9059cbb', 'transfer(address,uint256)'], fill: addErc20 },
  {
    share: 0.14,
    call: [
      'CONTRACT_CALL',
      '0x38ed1739',
      'swapExactTokensForTokens(uint256,uint256,address[],address,uint256)',
    ],
    fill: (builder) => {
      repeat(6 + Math.floor(15 * builder.random() ** 2), () => addErc20(builder))
      repeat(Math.floor(4 * builder.random()), () => addInternal(builder))
    },
  },
  {
    share: 0.1,
    call: ['CONTRACT_CALL', '0x3ccfd60b', 'withdraw()'],
    moves: 0.3,
    fill: (builder) => repeat(1 + Math.floor(2 * builder.random()), () => addInternal(builder)),
  },
  {
    share: 0.1,
    call: ['CONTRACT_CALL', '0x42842e0e', 'safeTransferFrom(address,address,uint256)'],
    moves: 0.2,
    fill: (builder) => repeat(1 + Math.floor(1.6 * builder.random()), () => addErc721(builder)),
  },
  {
    share: 0.06,
    call: ['CONTRACT_CALL', '0x2eb2c2d6', 'safeBatchTransferFrom(address,address,uint256[],uint256[],bytes)'],
    fill: (builder) => addBatch1155(builder, 1 + Math.floor(5 * builder.random())),
  },
  { share: 0.08, call: ['CONTRACT_CALL', '0x095ea7b3', 'approve(address,uint256)'], fill: () => {} },
]

function pickKind(at) {
  let passed = 0
  return (
    KINDS.find(({ share }) => {
      passed += share
      return at < passed
    }) ?? KINDS[0]
  )
}

function nativeOf({ random, n, block, index, wallet, kind, failed, isOut, self, other }) {
  const [callType, methodHash = '', methodName = ''] = kind.call
  const [from, to] = isOut ? [self, other] : [other, self]
  const gasUsed = 21_000 + Math.floor(random() * 400_000)
  const gas = `"gasLimit":"${gasUsed + 30_000}","gasUsed":"${gasUsed}","gasPrice":"${25_000_000_000 + Math.floor(random() * 1e10)}"`
  const time = 1_600_000_000 + block
  const times = `"blockTimestamp":${time},"blockTimestampMilliseconds":${time * 1000 + 317},"blockMinDelayExcess":${7_000_000 + (n % 1000)}`
  const txHash =
    `0x${(n * 7919).toString(16).padStart(16, 'a')}${wallet.slice(-8)}${hex(40, seededRandom(n + 0.5))}`.toLowerCase()
  const value = random() < (kind.moves ?? 0) ? randomDigits(random, 21) : '0'
  const head = `"blockNumber":"${block}",${times},"blockHash":"0x${hex(64, seededRandom(block)).toLowerCase()}","chainId":"43114"`
  const position = `"blockIndex":${index},"txHash":"${txHash}","txStatus":"${failed ? 0 : 1}","txType":2`
  const method = `"method":{"callType":"${callType}","methodHash":"${methodHash}","methodName":"${methodName}"}`
  return `{${head},${position},${gas},"nonce":"${n}","from":${from},"to":${to},${method},"value":"${value}"}`
}
