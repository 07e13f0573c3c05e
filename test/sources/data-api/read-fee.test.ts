import { expect, test } from 'vitest'
import { readFee } from '../../../src/sources/data-api/read-transaction.ts'
import { fakeRequester } from './pages/fake-requester.ts'

const BLOCK = '0xb10c'
const PRICES = { baseFeePerGas: '30', maxFeePerGas: '100', maxPriorityFeePerGas: '2' }
const PAID = { price: '32', cap: '100' }

/** The fee of a transaction whose details have these fields. */
function feeOf(fields: Record<string, unknown>, chain = '1') {
  const body = Buffer.from(JSON.stringify({ nativeTransaction: { blockHash: BLOCK, ...fields } }))
  const { requestContext } = fakeRequester(() => ({ body }))
  return readFee(requestContext, { chain, hash: '0x1', blockHash: BLOCK })
}

test.for([
  { when: 'the tip is above the cap', fields: { maxPriorityFeePerGas: '101' }, price: '100' },
  { when: 'the base fee is above the cap', fields: { baseFeePerGas: '101' }, price: '100' },
  { when: 'nothing is tipped', fields: { maxPriorityFeePerGas: '0' }, price: '30' },
  { when: 'all prices are 0', fields: zeroed(PRICES), price: '0', cap: '0' },
  { when: 'prices are JSON numbers', fields: { baseFeePerGas: 98, maxPriorityFeePerGas: 1 }, price: '99' },
  { when: 'prices have leading zeros', fields: { baseFeePerGas: '0098' }, price: '100' },
  { when: 'the sum exceeds 256 bits', fields: { maxPriorityFeePerGas: `${2n ** 256n - 1n}` }, price: '100' },
])(
  'the price is the lower one of the cap and of base fee and tip if $when',
  async ({ fields, price, cap = '100' }) => {
    expect(await feeOf({ ...PRICES, ...fields })).toEqual({ price, cap })
  },
)

function zeroed(fields: Record<string, string>) {
  return Object.fromEntries(Object.keys(fields).map((name) => [name, '0']))
}

test.for([null, undefined, '', '0x1e', '1.5', '-1', 'abc', {}, [30], `${2n ** 256n}`, 2 ** 60])(
  'there is no price if a part of it is %j',
  async (value) => {
    for (const name of Object.keys(PRICES)) expect(await feeOf({ ...PRICES, [name]: value })).toBeUndefined()
  },
)

test('details of another block have no price', async () => {
  expect(await feeOf({ ...PRICES, blockHash: BLOCK.toUpperCase() })).toEqual(PAID)
  for (const blockHash of ['0xb10d', null, 7]) expect(await feeOf({ ...PRICES, blockHash })).toBeUndefined()
})

test.for([
  {
    chain: '1',
    names: 'the blob fee',
    fields: { blobGasUsed: '131072', blobGasPrice: '3' },
    extra: '393216',
  },
  { chain: '1', names: 'a part of the blob fee', fields: { blobGasUsed: '131072' }, extra: undefined },
  {
    chain: '1',
    names: 'no blob fee of a transaction with blobs',
    fields: { txType: '3', l1Fee: '7' },
    extra: undefined,
  },
  { chain: '424242', names: 'an L1 fee', fields: { l1Fee: '7' }, extra: '7' },
  { chain: '10', names: 'the L1 fee', fields: { l1Fee: '7' }, extra: '7' },
  { chain: '0xa', names: 'the L1 fee', fields: { l1Fee: '7' }, extra: '7' },
  { chain: '10', names: 'an L1 fee in hex', fields: { l1Fee: '0x7' }, extra: undefined },
  {
    chain: '10',
    names: 'no L1 fee, but blobs',
    fields: { blobGasUsed: '0', blobGasPrice: '1' },
    extra: undefined,
  },
  { chain: '10', names: 'both', fields: { l1Fee: '7', blobGasUsed: '2', blobGasPrice: '3' }, extra: '13' },
])('further fees on chain $chain are $extra if the details name $names', async ({ chain, fields, extra }) => {
  expect(await feeOf({ ...PRICES, ...fields }, chain)).toEqual(
    extra === undefined ? PAID : { ...PAID, extra },
  )
})
