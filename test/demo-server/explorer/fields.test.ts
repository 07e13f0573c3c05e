import { expect, test } from 'vitest'
import { type EXPLORERS, openExplorer, recordsOf } from './requests.ts'

const [WALLET, OTHER] = [`0x${'a1'.repeat(20)}`, `0x${'b2'.repeat(20)}`]
const NATIVE = {
  blockNumber: '5',
  blockTimestamp: 1_700_000_000,
  blockHash: '0xBB',
  blockIndex: 3,
  txHash: '0xAA',
  txStatus: '1',
  gasLimit: '90',
  gasUsed: '70',
  gasPrice: '8',
  nonce: '2',
  value: '9',
  from: { address: WALLET.toUpperCase() },
  to: { address: OTHER },
  method: { callType: 'CONTRACT_CALL', methodHash: '0xa9059cbb', methodName: 'transfer(address,uint256)' },
}

type Api = (typeof EXPLORERS)[number]
type Item = { native?: object; [list: string]: unknown }

/** The only record of a listing of a chain with one transaction. */
async function recordOf(api: Api, action: string, { native, ...lists }: Item) {
  const chains = { 7: [{ nativeTransaction: { ...NATIVE, ...native }, ...lists }] }
  const records = await recordsOf(openExplorer(api, { chains }), { chainid: 7, action, address: WALLET })
  expect(records).toHaveLength(1)
  return records[0]
}

test.for([
  { native: {}, isError: '0', status: '1' },
  { native: { txStatus: '0' }, isError: '1', status: '0' },
  { native: { txStatus: undefined }, isError: '1', status: '0' },
])('a transaction with $native has isError $isError', async ({ native, isError, status }) => {
  for (const api of ['etherscan', 'blockscout'] as const)
    expect(await recordOf(api, 'txlist', { native })).toMatchObject({ isError, txreceipt_status: status })
})

test('addresses and hashes are in lower case', async () => {
  const record = await recordOf('etherscan', 'txlist', {})
  expect(record).toMatchObject({ from: WALLET, hash: '0xaa', blockHash: '0xbb', to: OTHER })
})

test.for([
  { method: NATIVE.method, txlist: '0xa9059cbb', blockscout: 'a9059cbb', name: 'transfer(address,uint256)' },
  {
    method: { callType: 'NATIVE_TRANSFER', methodHash: '', methodName: 'Native Transfer' },
    txlist: '0x',
    blockscout: '',
    name: '',
  },
  {
    method: { callType: 'CONTRACT_CREATION', methodHash: '', methodName: 'Contract Created' },
    txlist: '0x60806040',
    blockscout: '',
    name: '',
  },
])(
  'the method $txlist is that of the transaction in every list',
  async ({ method, txlist, blockscout, name }) => {
    const erc20Transfers = [{ from: NATIVE.from, to: NATIVE.to, value: '4', erc20Token: { address: OTHER } }]
    const item = { native: { method }, erc20Transfers }
    const etherscan = { methodId: txlist, functionName: name }
    expect(await recordOf('etherscan', 'txlist', item)).toMatchObject(etherscan)
    expect(await recordOf('etherscan', 'tokentx', item)).toMatchObject({ ...etherscan, input: 'deprecated' })
    expect(await recordOf('blockscout', 'txlist', item)).toMatchObject({ methodId: txlist, input: txlist })
    const blockscoutTransfer = { methodId: blockscout, functionName: name, input: txlist }
    expect(await recordOf('blockscout', 'tokentx', item)).toMatchObject(blockscoutTransfer)
  },
)

test('unknown decimals and names of a token are empty', async () => {
  const erc20Transfers = [{ from: NATIVE.from, to: NATIVE.to, value: '4', erc20Token: { address: OTHER } }]
  const expected = { tokenDecimal: '', tokenName: '', tokenSymbol: '', value: '4' }
  expect(await recordOf('etherscan', 'tokentx', { erc20Transfers })).toMatchObject(expected)
})

test.for([
  { is: 'CALL', etherscan: 'call', type: 'call', callType: 'call' },
  { is: 'CALLCODE', etherscan: 'callcode', type: 'call', callType: 'callcode' },
  { is: 'CREATE2', etherscan: 'create2', type: 'create2', callType: '' },
  { is: 'UNKNOWN', etherscan: 'suicide', type: 'selfdestruct', callType: '' },
])(
  'an internal transaction of type $is is shown as $etherscan and $type',
  async ({ is, etherscan, ...blockscout }) => {
    const entry = { from: NATIVE.from, to: NATIVE.to, internalTxType: is, value: '4' }
    const item = { internalTransactions: [{ ...entry, isReverted: true }] }
    const failed = { isError: '1', errCode: 'execution reverted', gas: '0', gasUsed: '0' }
    const parties = is === 'CREATE2' ? { to: '', contractAddress: OTHER } : { to: OTHER, contractAddress: '' }
    expect(await recordOf('etherscan', 'txlistinternal', item)).toMatchObject({
      type: etherscan,
      ...failed,
      ...parties,
    })
    expect(await recordOf('blockscout', 'txlistinternal', item)).toMatchObject({
      ...blockscout,
      ...failed,
      ...parties,
    })
  },
)

test('internal transactions of one transaction differ in their position in the trace', async () => {
  const entry = { from: NATIVE.from, to: NATIVE.to, internalTxType: 'CALL', value: '4', isReverted: false }
  const chains = { 7: [{ nativeTransaction: NATIVE, internalTransactions: [entry, entry] }] }
  const listing = { chainid: 7, action: 'txlistinternal', address: WALLET }
  const [etherscan, blockscout] = [
    openExplorer('etherscan', { chains }),
    openExplorer('blockscout', { chains }),
  ]
  expect((await recordsOf(etherscan, listing)).map(({ traceId }) => traceId)).toEqual(['0_1', '0_2'])
  expect((await recordsOf(blockscout, listing)).map(({ index }) => index)).toEqual(['1', '2'])
})
