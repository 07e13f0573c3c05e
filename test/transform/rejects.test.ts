import { join } from 'node:path'
import { expect, test } from 'vitest'
import { appendLines, openAppendFile } from '../../src/files/chunk.ts'
import { fingerprint, fingerprintBytes } from '../../src/transform/merge/fingerprints.ts'
import { rejectLine } from '../../src/transform/reject-line.ts'
import { retainedRejects } from '../../src/transform/rejects.ts'
import { tempFolder } from '../helpers/temp-folder.ts'
import { A, itemAt } from './pages-file.ts'

const line = (record: unknown, list: string | null = null, transactionHash: string | null = null) =>
  rejectLine('43114', { wallet: A, reason: 'why', record, list, transactionHash })

/** A slice that holds transactions with these hashes. */
function sliceWith(...hashes: string[]) {
  const bytes = fingerprintBytes(hashes.map(fingerprint))
  const file = openAppendFile(join(tempFolder(), 'hashes'))
  const chunk = appendLines(file, { bytes, rows: hashes.length, maxLineBytes: 0 })
  file.close()
  return { hashes: chunk }
}

test('records of blocks that are written again do not stay', () => {
  const rejects = [line(itemAt(94)), line(itemAt(95)), line(itemAt(96))]
  expect(retainedRejects({ rejects, from: 95 }, { batches: [sliceWith()], chain: '43114' })).toEqual([
    line(itemAt(94)),
  ])
})

test('entries of transactions that are written again do not stay', () => {
  const [again, before] = [line({}, 'erc20Transfers', '0xa'), line({}, 'erc20Transfers', '0xb')]
  expect(
    retainedRejects(
      { rejects: [again, before], from: 95 },
      { batches: [sliceWith('0xc'), sliceWith('0xa')], chain: '43114' },
    ),
  ).toEqual([before])
})

test('items without a place stay', () => {
  const rejects = [line(null), line({ nativeTransaction: {} })]
  expect(retainedRejects({ rejects, from: 95 }, { batches: [sliceWith('0xa')], chain: '43114' })).toEqual(
    rejects,
  )
})
