import { existsSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { openHashedFile } from '../../../src/core/platform/hashed-file.ts'
import { tempFolder } from '../../helpers/temp-folder.ts'

test('texts and bytes are written one after the other', async () => {
  const path = join(tempFolder(), 'part')
  const file = openHashedFile(path, { gzip: false })
  await file.write('ä,')
  await file.write(Buffer.from('b\n'))
  const { bytes } = await file.finish()
  expect(readFileSync(path, 'utf8')).toBe('ä,b\n')
  expect(bytes).toBe(5)
})

test.for([false, true])('a file in a missing folder fails and does not hang (gzip: %s)', async (gzip) => {
  const file = openHashedFile(join(tempFolder(), 'missing', 'part'), { gzip })
  const writing = async () => {
    for (let at = 0; at < 100; at += 1) await file.write(Buffer.alloc(1 << 20, at))
    await file.finish()
  }
  await expect(writing()).rejects.toMatchObject({ code: 'ENOENT' })
})

test('an abandoned file can be removed and never throws', async () => {
  const path = join(tempFolder(), 'part')
  const file = openHashedFile(path, { gzip: true })
  await file.write('x'.repeat(1_000_000))
  await file.abort()
  expect(existsSync(path) ? statSync(path).isFile() : true).toBe(true)
})
