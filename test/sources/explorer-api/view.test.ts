import { expect, test } from 'vitest'
import { parseBytes } from '../../../src/core/platform/byte-text.ts'
import { blockscout, etherscan } from '../../../src/sources/explorer-api/explorer-api.ts'
import { recordAt, WALLET } from './fake-explorer.ts'

const OTHER = '0x00000000000000000000000000000000000000bb'
const TOKEN = '0x00000000000000000000000000000000000000cc'

const party = { from: OTHER, to: WALLET, value: '7', contractAddress: '' }
const native = recordAt(5, 'aa', { ...party, isError: '0', txreceipt_status: '1' })
const internal = {
  blockNumber: '5',
  timeStamp: '1600000005',
  hash: '0xaa',
  type: 'call',
  isError: '0',
  ...party,
}
const transfer = recordAt(5, 'aa', { ...party, contractAddress: TOKEN, tokenDecimal: '18' })

/** Reads the view of one transaction, and collects what was rejected. */
function viewOf(records: Record<string, unknown>, source = etherscan) {
  const lists = { normal: null, internal: [], erc20: [], erc721: [], erc1155: [], ...records }
  const item = parseBytes(Buffer.from(JSON.stringify({ hash: '0xaa', blockNumber: '5', ...lists })))
  const rejects: string[] = []
  const onBadEntry = (list: string, _entry: unknown, reason: string) => rejects.push(`${list}: ${reason}`)
  const view = source.readView(item, { chain: '1', onBadEntry })
  if (typeof view === 'string') throw new Error(view)
  return { ...view, rejects }
}

test('an internal transaction that is listed twice counts once', () => {
  const at = (traceId: string) => ({ ...internal, traceId })
  expect(viewOf({ internal: [at('0_1'), at('0_1'), at('0_2')] }).internal).toHaveLength(2)
  expect(
    viewOf({
      internal: [
        { ...internal, index: '3' },
        { ...internal, index: '3' },
      ],
    }).internal,
  ).toHaveLength(1)
})

test('equal internal transactions without a position all count', () => {
  expect(viewOf({ internal: [internal, internal] }).internal).toHaveLength(2)
})

test('a transfer from a wallet to itself that is listed twice counts once', () => {
  const self = { ...transfer, from: WALLET }
  expect(viewOf({ erc20: [self, self] }).erc20).toHaveLength(1)
  expect(viewOf({ erc20: [self] }).erc20).toHaveLength(1)
  expect(
    viewOf({ erc721: [1, 2, 1, 2].map((id) => ({ ...self, tokenID: String(id) })) }).erc721,
  ).toHaveLength(2)
})

test('a transfer from a wallet to itself counts once if the number of confirmations grew between the two records', () => {
  const self = (confirmations: string) => ({ ...transfer, from: WALLET, confirmations })
  expect(viewOf({ erc20: [self('5'), self('6')] }).erc20).toHaveLength(1)
})

test('two equal transfers from a wallet to itself count twice on Blockscout, which lists each once', () => {
  const self = { ...transfer, from: WALLET }
  expect(viewOf({ erc20: [self, self] }, blockscout).erc20).toHaveLength(2)
})

test('a record of tokentx with a token id is rejected unless tokennfttx lists it', () => {
  const nft = { ...transfer, tokenID: '7', logIndex: '3' }
  const batch = { ...nft, tokenIDs: ['7'], values: ['2'] }
  const single = { ...nft, logIndex: '4', value: undefined }
  const view = viewOf({ erc20: [nft, batch, single], erc721: [nft] }, blockscout)
  expect([view.erc20, view.erc721, view.erc1155].map(({ length }) => length)).toEqual([0, 1, 1])
  expect(view.rejects).toEqual([expect.stringMatching(/^erc20: it states a tokenID and no quantity/)])
})

test('a record of tokentx with a token id is not lost because log indexes are not stated', () => {
  const nft = (tokenID: string) => ({ ...transfer, tokenID })
  const view = viewOf({ erc20: [nft('7'), nft('8'), nft('7')], erc721: [nft('7')] }, blockscout)
  expect(view.erc721).toHaveLength(1)
  expect(view.rejects).toHaveLength(2)
})

test('equal transfers between different parties all count', () => {
  expect(viewOf({ erc20: [transfer, transfer] }).erc20).toHaveLength(2)
})

test('transfers are kept if the record of their transaction is invalid', () => {
  const {
    erc20,
    native: read,
    rejects,
    isComplete,
  } = viewOf({ normal: { ...native, value: '' }, erc20: [transfer] })
  expect(erc20).toHaveLength(1)
  expect(read).toMatchObject({ isPartial: true, row: { value: null }, prefix: { transaction_index: 0 } })
  expect(rejects).toEqual([expect.stringMatching(/^normal: value/)])
  expect(isComplete).toBe(false)
})

test('an empty position of a transaction is an unknown one', () => {
  const { native: read } = viewOf({ normal: { ...native, transactionIndex: '' } })
  expect(read).toMatchObject({ row: { value: '7' }, prefix: { transaction_index: null } })
})

test('a transaction with blobs may have paid for them', () => {
  const gas = { gasUsed: '21000', gasPrice: '5' }
  const feeOf = (fields: object) => viewOf({ normal: { ...native, ...gas, ...fields } }).native.row
  expect(feeOf({ type: '2' })).toMatchObject({ transaction_type: 2, extra_fee: '0' })
  expect(feeOf({ type: '3' })).toMatchObject({ transaction_type: 3, extra_fee: null })
  expect(feeOf({ type: '3', L1FeesPaid: '9' })).toMatchObject({ transaction_fee: '105000', extra_fee: null })
})
