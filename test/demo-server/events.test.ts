import { createHmac } from 'node:crypto'
import { expect, test } from 'vitest'
import type { JsonObject } from '../../src/demo-server/json.ts'
import { buildEvent, formatUnits } from '../../src/demo-server/webhooks/build-event.ts'
import type { Webhook } from '../../src/demo-server/webhooks/registry.ts'
import { canonicalJson, sign } from '../../src/demo-server/webhooks/sign.ts'

const A = '0xAAAAAAaAaAaAaAaAaAaAaAaAaAaAaAaAaAaAaAaA'
const B = '0xBbBbbbBbBbBbBbBbBbBbBbBbBbBbBbBbBbBbBbBB'
const word = (value: bigint | string) =>
  typeof value === 'string'
    ? value.slice(2).toLowerCase().padStart(64, '0')
    : value.toString(16).padStart(64, '0')
const parties = { from: { address: A, name: 'a' }, to: { address: B } }

const ITEM = {
  nativeTransaction: {
    blockNumber: '7',
    blockHash: '0xb',
    blockTimestamp: 1700000002,
    chainId: '43114',
    blockIndex: 3,
    txHash: '0xt',
    txStatus: '1',
    txType: 2,
    gasLimit: '90',
    gasUsed: '60',
    gasPrice: '25',
    nonce: '5',
    ...parties,
    value: '1500000000000000000',
    method: { callType: 'CONTRACT_CALL', methodHash: '0xa9059cbb' },
  },
  erc20Transfers: [
    {
      ...parties,
      logIndex: 4,
      value: '1500',
      erc20Token: { address: A, name: 'T', symbol: 'TT', decimals: 3 },
    },
  ],
  erc721Transfers: [
    {
      ...parties,
      logIndex: 2,
      erc721Token: { address: B, name: 'N', symbol: 'NN', tokenId: '9', metadata: {} },
    },
  ],
  erc1155Transfers: [
    { ...parties, logIndex: 3, value: '2', erc1155Token: { address: B, tokenId: '1' } },
    { ...parties, logIndex: 5, value: '2', erc1155Token: { address: B, tokenId: '1' } },
    { ...parties, logIndex: 5, value: '3', erc1155Token: { address: B, tokenId: '1' } },
  ],
  internalTransactions: [
    { ...parties, internalTxType: 'CALL', value: '7', isReverted: false, gasUsed: '1', gasLimit: '2' },
  ],
}

function eventOf(item: JsonObject, includes: Partial<Webhook>) {
  const webhook = { includeInternalTxs: false, includeLogs: false, ...includes } as Webhook
  const networkToken = { name: 'Avalanche', symbol: 'AVAX', decimals: 18 }
  // biome-ignore lint/suspicious/noExplicitAny: tests assert the shape of the event
  return buildEvent(webhook, { item, cumulativeGasUsed: 160, networkToken }) as any
}

test('contains the transaction with parties as plain strings', () => {
  expect(eventOf(ITEM, {})).toEqual({
    transaction: {
      blockHash: '0xb',
      blockNumber: '7',
      from: A,
      gas: '90',
      gasPrice: '25',
      maxFeePerGas: '',
      maxPriorityFeePerGas: '',
      txHash: '0xt',
      txStatus: '1',
      input: '',
      nonce: '5',
      to: B,
      transactionIndex: 3,
      value: '1500000000000000000',
      type: 2,
      chainId: '43114',
      receiptCumulativeGasUsed: '160',
      receiptGasUsed: '60',
      receiptEffectiveGasPrice: '25',
      receiptRoot: '',
      blockTimestamp: 1700000002,
      erc20Transfers: [
        {
          transactionHash: '0xt',
          type: 'ERC20',
          from: A,
          to: B,
          value: '1500',
          logIndex: 4,
          blockTimestamp: 1700000002,
          erc20Token: { address: A, name: 'T', symbol: 'TT', decimals: 3, valueWithDecimals: '1.5' },
        },
      ],
      erc721Transfers: [
        {
          transactionHash: '0xt',
          type: 'ERC721',
          from: A,
          to: B,
          value: '1',
          tokenId: '9',
          logIndex: 2,
          blockTimestamp: 1700000002,
          erc721Token: { address: B, name: 'N', symbol: 'NN', decimals: 0, valueWithDecimals: '1' },
        },
      ],
      erc1155Transfers: [
        expect.objectContaining({ type: 'ERC1155', tokenId: '1', value: '2', logIndex: 3 }),
        expect.objectContaining({ type: 'ERC1155', tokenId: '1', value: '2', logIndex: 5 }),
        expect.objectContaining({ type: 'ERC1155', tokenId: '1', value: '3', logIndex: 5 }),
      ],
      networkToken: {
        tokenName: 'Avalanche',
        tokenSymbol: 'AVAX',
        tokenDecimals: 18,
        valueWithDecimals: '1.5',
      },
    },
  })
})

test('contains internal transactions, in lower case, with includeInternalTxs', () => {
  expect(eventOf(ITEM, { includeInternalTxs: true }).transaction.internalTransactions).toEqual([
    {
      from: A.toLowerCase(),
      to: B.toLowerCase(),
      internalTxType: 'CALL',
      value: '7',
      gasUsed: '1',
      gasLimit: '2',
      transactionHash: '0xt',
    },
  ])
})

test('contains logs by log index, with null for missing topics, with includeLogs', () => {
  const [a, b] = [`0x${word(A)}`, `0x${word(B)}`]
  const rest = { transactionIndex: 3, removed: false }
  expect(eventOf(ITEM, { includeLogs: true }).logs).toEqual([
    {
      address: B.toLowerCase(),
      topic0: expect.stringMatching(/^0xddf252ad/),
      topic1: a,
      topic2: b,
      topic3: `0x${word(9n)}`,
      data: '0x',
      logIndex: 2,
      ...rest,
    },
    {
      address: B.toLowerCase(),
      topic0: expect.stringMatching(/^0xc3d58168/),
      topic1: a,
      topic2: a,
      topic3: b,
      data: `0x${word(1n)}${word(2n)}`,
      logIndex: 3,
      ...rest,
    },
    {
      address: A.toLowerCase(),
      topic0: expect.stringMatching(/^0xddf252ad/),
      topic1: a,
      topic2: b,
      topic3: null,
      data: `0x${word(1500n)}`,
      logIndex: 4,
      ...rest,
    },
    {
      address: B.toLowerCase(),
      topic0: expect.stringMatching(/^0x4a39dc06/),
      topic1: a,
      topic2: a,
      topic3: b,
      data: `0x${[64n, 160n, 2n, 1n, 1n, 2n, 2n, 3n].map(word).join('')}`,
      logIndex: 5,
      ...rest,
    },
  ])
})

test('contains the created contract, and the empty input of a plain transfer', () => {
  const native = (callType: string) => ({
    nativeTransaction: { ...ITEM.nativeTransaction, method: { callType } },
  })
  expect(eventOf(native('CONTRACT_CREATION'), {}).transaction).toMatchObject({
    contractAddress: B,
    input: '',
  })
  expect(eventOf(native('NATIVE_TRANSFER'), {}).transaction).toMatchObject({ input: '0x' })
  expect(eventOf(native('NATIVE_TRANSFER'), {}).transaction).not.toHaveProperty('contractAddress')
})

test('handles a malformed record', () => {
  const broken = { nativeTransaction: null, erc20Transfers: [null, { value: 'x' }], erc1155Transfers: 'none' }
  const event = eventOf(broken, { includeLogs: true, includeInternalTxs: true })
  expect(event.transaction.from).toBe('')
  expect(event.logs).toHaveLength(2)
})

test.for([
  { value: '0', decimals: 18, text: '0' },
  { value: '1', decimals: 18, text: '0.000000000000000001' },
  { value: '1500', decimals: 3, text: '1.5' },
  { value: '1000', decimals: 3, text: '1' },
  { value: '12', decimals: 0, text: '12' },
  { value: '12', decimals: undefined, text: '12' },
  { value: 'x', decimals: 3, text: 'x' },
])('formats $value with $decimals decimals as $text', ({ value, decimals, text }) => {
  expect(formatUnits(value, decimals)).toBe(text)
})

test('canonical JSON sorts keys by UTF-16 code units', () => {
  const value = {
    b: [3, { z: null, a: 'é\n"' }],
    '\u20ac': 1,
    a: 1e21,
    '\ud83d\ude00': true,
    B: 0.1,
    absent: undefined,
  }
  expect(canonicalJson(value)).toBe(
    '{"B":0.1,"a":1e+21,"b":[3,{"a":"é\\n\\"","z":null}],"\u20ac":1,"\ud83d\ude00":true}',
  )
})

test('signs canonical JSON, or the raw body as in the test vector of RFC 4231', () => {
  const text = '{"b":1, "a":2}'
  const body = JSON.parse(text)
  const canonical = createHmac('sha256', 'Jefe').update('{"a":2,"b":1}').digest('base64')
  expect(sign({ secret: '4a656665', body, text }, 'canonical')).toBe(canonical)
  expect(sign({ secret: 'Jefe', body, text: 'what do ya want for nothing?' }, 'raw')).toBe(
    Buffer.from('5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843', 'hex').toString('base64'),
  )
})
