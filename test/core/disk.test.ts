import { readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { makeFolder } from '../../src/core/disk.ts'
import { tempFolder } from '../helpers/temp-folder.ts'

test('many make their folders in one that none has made yet', async () => {
  for (let round = 0; round < 20; round += 1) {
    const above = join(tempFolder(), 'output', 'all')
    const names = Array.from({ length: 40 }, (_, at) => `job-${at}`)
    await Promise.all(names.map((name) => makeFolder(join(above, name, '.private'))))
    expect(readdirSync(above).sort()).toEqual(names.sort())
  }
})

test('a folder that is there is made, one below a file is not', async () => {
  const folder = tempFolder()
  await makeFolder(folder)
  writeFileSync(join(folder, 'file'), '')
  await expect(makeFolder(join(folder, 'file'))).rejects.toMatchObject({ code: 'EEXIST' })
  await expect(makeFolder(join(folder, 'file', 'a', 'b'))).rejects.toMatchObject({ code: 'ENOTDIR' })
})
