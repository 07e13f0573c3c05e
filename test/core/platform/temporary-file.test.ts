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

test('each temporary file has a unique name in the folder of its target', async () => {
  const path = join(tempFolder(), 'manifest.json')
  const names = await Promise.all(Array.from({ length: 20 }, () => temporaryPathFor(path)))
  expect(new Set(names).size).toBe(20)
  for (const name of names)
    expect([dirname(name), isTemporary(basename(name))]).toEqual([dirname(path), true])
})

test('does not write through an existing file or link with a temporary name', async () => {
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

test('a write removes temporary files of ended processes and keeps those of running ones', async () => {
  const folder = tempFolder()
  await leaveTemporary(join(folder, 'a'))
  const running = basename(await temporaryPathFor(join(folder, 'b')))
  writeFileSync(join(folder, running), '')
  writeFileSync(join(folder, '.mine.part'), '')
  await writeAtomically(join(folder, 'a'), 'new')
  expect(readdirSync(folder).sort()).toEqual(['.mine.part', running, 'a'])
})

test('removes temporary files of another machine after an hour', async () => {
  const folder = tempFolder()
  const [young, old] = ['0', '1'].map((digit) => `.walletlake-0123abcd-1-1-${digit.repeat(16)}.part`)
  for (const name of [young, old]) writeFileSync(join(folder, name ?? ''), '')
  const longAgo = Date.now() / 1000 - 3_700
  utimesSync(join(folder, old ?? ''), longAgo, longAgo)
  await removeStaleTemporaries(folder)
  expect(readdirSync(folder)).toEqual([young])
})
