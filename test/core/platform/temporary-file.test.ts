import { readdirSync, readFileSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { expect, test } from 'vitest'
import { writeAtomically } from '../../../src/core/platform/disk.ts'
import {
  createTemporary,
  isTemporary,
  removeStaleTemporaries,
  temporaryPathFor,
} from '../../../src/core/platform/temporary-file.ts'
import { leaveTemporary } from '../../helpers/leave-temporary.ts'
import { tempFolder } from '../../helpers/temp-folder.ts'

test('a temporary file lies beside its later name, under another one each time', async () => {
  const path = join(tempFolder(), 'manifest.json')
  const names = await Promise.all(Array.from({ length: 20 }, () => temporaryPathFor(path)))
  expect(new Set(names).size).toBe(20)
  for (const name of names)
    expect([dirname(name), isTemporary(basename(name))]).toEqual([dirname(path), true])
})

test('a file or a link under the name of a temporary file is not written to', async () => {
  const folder = tempFolder()
  const target = join(folder, 'target')
  writeFileSync(target, 'kept')
  const { path, handle } = await createTemporary(join(folder, 'a'))
  await handle.close()
  symlinkSync(target, join(folder, '.a.part'))
  await writeAtomically(join(folder, 'a'), 'new')
  expect(readFileSync(target, 'utf8')).toBe('kept')
  expect(readdirSync(folder).sort()).toEqual(['.a.part', basename(path), 'a', 'target'])
})

test('what a killed process has left goes with the next writing, what a living one writes stays', async () => {
  const folder = tempFolder()
  await leaveTemporary(join(folder, 'a'))
  const living = basename(await temporaryPathFor(join(folder, 'b')))
  writeFileSync(join(folder, living), '')
  writeFileSync(join(folder, '.mine.part'), '')
  await writeAtomically(join(folder, 'a'), 'new')
  expect(readdirSync(folder).sort()).toEqual(['.mine.part', living, 'a'])
})

test('a temporary file of another machine goes after an hour', async () => {
  const folder = tempFolder()
  const [young, old] = ['0', '1'].map((digit) => `.walletlake-0123abcd-1-1-${digit.repeat(16)}.part`)
  for (const name of [young, old]) writeFileSync(join(folder, name ?? ''), '')
  const longAgo = Date.now() / 1000 - 3_700
  utimesSync(join(folder, old ?? ''), longAgo, longAgo)
  await removeStaleTemporaries(folder)
  expect(readdirSync(folder)).toEqual([young])
})
