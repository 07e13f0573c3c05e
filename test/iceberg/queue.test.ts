import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { DEFAULT_TABLES } from '../../src/core/table/index.ts'
import { setUpQueue } from '../helpers/queued-runs.ts'
import { noRedis, testServer } from '../helpers/shared-servers.ts'
import { expectCurrent, filesOf, metadataOf } from './lake.ts'

/** What the tables of an export contain, without random ids, times and the location of the export. */
async function contentOf(output: string): Promise<string> {
  const tables = DEFAULT_TABLES.map(async (table) => {
    const metadata = await metadataOf({ output }, table)
    const files = await Promise.all(metadata.snapshots.map((snapshot) => filesOf({ output }, snapshot)))
    const snapshots = metadata.snapshots.map(({ summary }) => summary)
    const { 'table-uuid': _, 'last-updated-ms': _at, refs: _refs, ...rest } = metadata
    return { ...rest, snapshots, files }
  })
  const hidden = /^(?:walletlake\.run-id|current-snapshot-id|metadata-log|snapshot-log)$/
  const text = JSON.stringify(await Promise.all(tables), (key, value) => (hidden.test(key) ? null : value), 1)
  return text.replaceAll(output, '')
}

describe.skipIf(noRedis)('over a queue', { tags: ['long'] }, () => {
  const server = testServer()

  test('a run commits the snapshots of a run on one machine', async () => {
    const queue = await setUpQueue(server)
    queue.writeJob('endBlock: 421\npartitionBy: blocks:100\nformat: parquet\ntable: iceberg\n')
    queue.startWorker()
    for (const { exit, stderr } of [await queue.runQueued(), await queue.runAlone()])
      expect([exit, stderr]).toEqual([0, expect.any(String)])
    const [many, alone] = [join(queue.folder, 'many'), join(queue.folder, 'alone')]
    await expectCurrent({ output: many })
    expect(await contentOf(many)).toEqual(await contentOf(alone))
  })
})
