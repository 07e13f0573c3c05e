import { expect, test } from 'vitest'
import { createDataService } from '../../src/demo-server/create-data-service.ts'
import { blockPath, fetchAll, fetchJson, type Native, walletPath } from './requests.ts'

const A = '0x00000000000000000000000000000000000000Aa'
const B = '0x00000000000000000000000000000000000000bB'

/** A transaction from A without a recipient, in this block. */
function itemAt(block: number, more: Record<string, unknown> = {}) {
  const native = { blockNumber: String(block), blockHash: `0xB${block}`, txHash: `0x${block}` }
  return { nativeTransaction: { ...native, from: { address: A }, to: { address: '' } }, ...more }
}

const blocksOf = (items: { nativeTransaction: Native }[]) =>
  items.map((item) => Number(item.nativeTransaction.blockNumber))

test('serves chains of the options in addition to the embedded ones', async () => {
  const service = createDataService({ chains: { lab: [itemAt(1), itemAt(1), itemAt(5)] } })
  expect(blocksOf(await fetchAll(service, walletPath(A, 'pageSize=1', 'lab')))).toEqual([1, 1, 5])
  expect(await fetchAll(service, walletPath(B, '', 'lab'))).toEqual([])
  expect(await fetchAll(service, blockPath(1, '', 'lab'))).toHaveLength(2)
  expect((await fetchJson(service, blockPath(2, '', 'lab'))).status).toBe(404)
  expect((await fetchJson(service, blockPath(1))).status).toBe(200)
})

test('sorts a chain by block and preserves the order within a block', async () => {
  const items = [itemAt(9), itemAt(3, { mark: 1 }), itemAt(3, { mark: 2 })]
  const service = createDataService({ chains: { lab: items } })
  expect(await fetchAll(service, walletPath(A, '', 'lab'))).toEqual([items[1], items[2], items[0]])
})

test('returns only the entries of a wallet and leaves other fields unchanged', async () => {
  const ours = { from: { address: B }, to: { address: A.toUpperCase().replace('0X', '0x') }, value: '1' }
  const theirs = { from: { address: B }, to: { address: B }, value: '2' }
  const item = itemAt(1, {
    erc20Transfers: [theirs, ours, theirs],
    news: { from: { address: B } },
    erc721Transfers: null,
  })
  const service = createDataService({ chains: { lab: [item] } })
  const [seen] = await fetchAll(service, walletPath(A, '', 'lab'))
  expect(JSON.stringify(seen)).toBe(JSON.stringify({ ...item, erc20Transfers: [ours] }))
  const [other] = await fetchAll(service, walletPath(B, '', 'lab'))
  expect(other?.erc20Transfers).toEqual([theirs, ours, theirs])
})

test('serves malformed records at their position among valid ones', async () => {
  const parties = { from: { address: A } }
  const broken = [{ nativeTransaction: { blockNumber: 'seven', ...parties } }, { nativeTransaction: parties }]
  const lost = [{ nativeTransaction: null }, {}]
  const items = [itemAt(4), ...broken, ...lost, itemAt(8)]
  const service = createDataService({ chains: { lab: items } })
  expect(await fetchAll(service, walletPath(A, '', 'lab'))).toEqual([itemAt(4), ...broken, itemAt(8)])
  expect(await fetchAll(service, walletPath(A, 'endBlock=8', 'lab'))).toEqual([itemAt(4), ...broken])
})

test('serves nothing after the head', async () => {
  const service = createDataService({ head: 100 })
  const address = '0xa548f4431ec271b95b8BDf86c85147C3bBBC5A4f'
  const open = await fetchAll(service, walletPath(address, 'pageSize=100'))
  const whole = await fetchAll(createDataService(), walletPath(address, 'pageSize=100&endBlock=101'))
  expect(open).toEqual(whole)
  expect(await fetchAll(service, walletPath(address, 'pageSize=100&sortOrder=desc'))).toEqual(whole.reverse())
  expect(await fetchAll(service, walletPath(address, 'startBlock=101'))).toEqual([])
  expect((await fetchJson(service, blockPath(100))).status).toBe(200)
  expect((await fetchJson(service, blockPath(101))).status).toBe(404)
})

test('continues from an earlier page token when the chain has grown', async () => {
  const head = { block: 3 }
  const items = [1, 2, 3, 4, 5].map((block) => itemAt(block))
  const service = createDataService({ chains: { lab: items }, head: () => head.block })
  const pageOf = async (order: string, token?: string) => {
    const next = token === undefined ? '' : `&pageToken=${token}`
    const { body } = await fetchJson(service, walletPath(A, `pageSize=2&sortOrder=${order}${next}`, 'lab'))
    return { blocks: blocksOf(body.transactions), token: body.nextPageToken }
  }
  const ascending = await pageOf('asc')
  const descending = await pageOf('desc')
  expect([ascending.blocks, descending.blocks]).toEqual([
    [1, 2],
    [3, 2],
  ])
  head.block = 5
  expect((await pageOf('asc', ascending.token)).blocks).toEqual([3, 4])
  expect(await pageOf('desc', descending.token)).toEqual({ blocks: [1], token: undefined })
  head.block = 1
  expect(await pageOf('asc', ascending.token)).toEqual({ blocks: [], token: undefined })
})
