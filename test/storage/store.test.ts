import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { PRIVATE_FOLDER } from '../../src/core/model/manifest.ts'
import { lockOutput } from '../../src/core/platform/lock/lock.ts'
import { BACKUP_PATH, folderStore } from '../../src/storage/store.ts'
import { folderTree } from '../helpers/folder-tree.ts'
import { tempFolder } from '../helpers/temp-folder.ts'
import { storeChanges } from './store-changes.ts'

test('no method of a folder changes anything once another process has taken over the lock', async () => {
  const folder = tempFolder()
  const release = await lockOutput(join(folder, PRIVATE_FOLDER))
  const store = folderStore(folder)
  await store.putManifest('{}')
  for (const path of ['rejects.ndjson', BACKUP_PATH]) await store.putText(path, 'content')
  const elsewhere = '{"pid":1,"host":"elsewhere","startedAt":"2024-05-06T07:08:09.000Z"}'
  writeFileSync(join(folder, PRIVATE_FOLDER, 'lock'), elsewhere)
  const before = folderTree(folder)
  for (const [name, change] of [
    ...storeChanges(store),
    ['removeEmptyPartitions', () => store.removeEmptyPartitions('ledger')] as const,
  ])
    await expect(change(), name).rejects.toMatchObject({ code: 'OUTPUT_LOCKED' })
  expect(folderTree(folder)).toEqual(before)
  await release()
})
