import { join } from 'node:path'
import { expect, test } from 'vitest'
import { appendLines, openAppendFile } from '../../src/files/chunk.ts'
import { dataApi } from '../../src/sources/data-api/data-api.ts'
import { fingerprint, fingerprintBytes } from '../../src/transform/merge/fingerprints.ts'
import { rejectLine } from '../../src/transform/reject-line.ts'
import { retainedRejects } from '../../src/transform/rejects.ts'
import { tempFolder } from '../helpers/temp-folder.ts'
import { A, itemAt } from './pages-file.ts'

const line = (record: unknown, list: string | null = null, transactionHash: string | null = null) =>
  rejectLine('43114', { wallet: A, reason: 'why', record, list, transactionHash })

/** A batch that contains transactions with these hashes. */
function batchWith(...hashes: string[]) {
  const bytes = fingerprintBytes(hashes.map(fingerprint))
  const file = openAppendFile(join(tempFolder(), 'hashes'))
  const chunk = appendLines(file, { bytes, rows: hashes.length, maxLineBytes: 0 })
  file.close()
  return { hashes: chunk }
}

test('drops lines of blocks that are written again', () => {
  const rejects = [line(itemAt(94)), line(itemAt(95)), line(itemAt(96))]
  expect(
    retainedRejects({ rejects, from: 95 }, { batches: [batchWith()], chain: '43114', source: dataApi }),
  ).toEqual([line(itemAt(94))])
})

test('drops lines of transactions that are written again', () => {
  const [again, before] = [line({}, 'erc20Transfers', '0xa'), line({}, 'erc20Transfers', '0xb')]
  expect(
    retainedRejects(
      { rejects: [again, before], from: 95 },
      { batches: [batchWith('0xc'), batchWith('0xa')], chain: '43114', source: dataApi },
    ),
  ).toEqual([before])
})

test('retains items without a valid position', () => {
  const rejects = [line(null), line({ nativeTransaction: {} })]
  expect(
    retainedRejects({ rejects, from: 95 }, { batches: [batchWith('0xa')], chain: '43114', source: dataApi }),
  ).toEqual(rejects)
})
