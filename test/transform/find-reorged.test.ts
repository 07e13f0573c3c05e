import { expect, test } from 'vitest'
import { UNKNOWN_INDEX } from '../../src/core/model/item-key.ts'
import { writeBatches } from '../../src/transform/write-batches.ts'
import { tempFolder } from '../helpers/temp-folder.ts'
import { A, B, itemAt, stagePages, textOf } from './pages-file.ts'

const HASH = `0x${'7'.repeat(64)}`

/** The blocks of all transaction rows, of pages that place one transaction in several blocks. */
const blocksOf = async (pages: Parameters<typeof stagePages>[1]) =>
  (await cellsOf(pages)).map(([, block]) => Number(block))

/** The cells of all transaction rows, of pages that give one transaction several positions. */
async function cellsOf(pages: Parameters<typeof stagePages>[1]): Promise<string[][]> {
  const folder = tempFolder()
  const { tasks, locations } = stagePages(folder, pages)
  tasks.run({ kind: 'flush' })
  const batches = await writeBatches([{ range: { from: 0, to: 100 }, pages: locations }], {
    pages: locations,
    folder,
    floorMs: 0,
    write: async (batch) => tasks.run({ kind: 'batch', batch }),
  })
  const text = batches.map(({ chunks }) => textOf(chunks.get('transactions'))).join('')
  return text
    .trimEnd()
    .split('\n')
    .map((line) => line.split(','))
}

test('a transaction gets the position in the view of the lowest wallet address', async () => {
  const pages = [
    { wallet: A, transactions: [itemAt(10, { txHash: HASH })] },
    { wallet: B, transactions: [itemAt(12), itemAt(20, { txHash: HASH })] },
  ]
  expect(await blocksOf(pages)).toEqual([10, 12])
})

test('a transaction that a listing received twice moves from both pages', async () => {
  const twice = { wallet: B, transactions: [itemAt(20, { txHash: HASH })] }
  const pages = [twice, { wallet: A, transactions: [itemAt(10, { txHash: HASH }), itemAt(12)] }, twice]
  expect(await blocksOf(pages)).toEqual([10, 12])
})

test('if that view cannot be normalized, the transaction gets the position in the next view', async () => {
  const pages = [
    { wallet: A, transactions: [itemAt(10, { txHash: HASH, value: 'broken' })] },
    { wallet: B, transactions: [itemAt(12), itemAt(20, { txHash: HASH })] },
  ]
  expect(await blocksOf(pages)).toEqual([12, 20])
})

test('a view that does not state the position in the block takes it from another view of this block', async () => {
  const pages = [
    {
      wallet: A,
      transactions: [itemAt(10, { index: 5 }), itemAt(10, { txHash: HASH, index: UNKNOWN_INDEX })],
    },
    { wallet: B, transactions: [itemAt(10, { txHash: HASH, index: 3 })] },
  ]
  const hashes = (await cellsOf(pages)).map(([, , , , hash]) => hash)
  expect(hashes).toEqual([HASH, itemAt(10, { index: 5 }).nativeTransaction?.txHash])
})
