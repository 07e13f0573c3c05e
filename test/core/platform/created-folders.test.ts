import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { trackCreatedFolders } from '../../../src/core/platform/created-folders.ts'
import { tempFolder } from '../../helpers/temp-folder.ts'

test('removes empty folders that did not exist before', async () => {
  const root = tempFolder()
  const path = join(root, 'output', 'mine', '.walletlake')
  const before = await trackCreatedFolders(path)
  mkdirSync(path, { recursive: true })
  await before.removeEmpty()
  expect([before.isNew, existsSync(join(root, 'output')), existsSync(root)]).toEqual([true, false, true])
})

test('keeps folders that are not empty or that existed before', async () => {
  const root = tempFolder()
  mkdirSync(join(root, 'output'))
  const before = await trackCreatedFolders(join(root, 'output', 'mine', 'deep'))
  mkdirSync(join(root, 'output', 'mine', 'deep'), { recursive: true })
  writeFileSync(join(root, 'output', 'mine', 'kept'), '')
  await before.removeEmpty()
  expect(existsSync(join(root, 'output', 'mine', 'deep'))).toBe(false)
  expect(existsSync(join(root, 'output', 'mine', 'kept'))).toBe(true)
  const again = await trackCreatedFolders(join(root, 'output'))
  expect(again.isNew).toBe(false)
})
