import { readdirSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { FAILURES, PERMISSION_FIX, toExportError } from '../../../src/core/model/errors.ts'
import { MAX_MANIFEST_BYTES } from '../../../src/core/model/limits.ts'
import {
  diskError,
  makeFolder,
  readManifestText,
  readTextIfExists,
  writeAtomically,
} from '../../../src/core/platform/disk.ts'
import { tempFile, tempFolder } from '../../helpers/temp-folder.ts'

test('concurrent calls can create folders in the same missing parent', async () => {
  for (let round = 0; round < 20; round += 1) {
    const above = join(tempFolder(), 'output', 'all')
    const names = Array.from({ length: 40 }, (_, at) => `job-${at}`)
    await Promise.all(names.map((name) => makeFolder(join(above, name, '.private'))))
    expect(readdirSync(above).sort()).toEqual(names.sort())
  }
})

test('accepts an existing folder and fails below a file', async () => {
  const folder = tempFolder()
  await makeFolder(folder)
  writeFileSync(join(folder, 'file'), '')
  await expect(makeFolder(join(folder, 'file'))).rejects.toMatchObject({ code: 'EEXIST' })
  await expect(makeFolder(join(folder, 'file', 'a', 'b'))).rejects.toMatchObject({ code: 'ENOTDIR' })
})

test('a file that is too large to be a manifest is not read', async () => {
  const path = tempFile('manifest.json', '{}')
  truncateSync(path, MAX_MANIFEST_BYTES + 1)
  const says = expect.stringContaining('larger than 64 MiB')
  await expect(readManifestText(path)).rejects.toMatchObject({ message: says })
  await expect(readTextIfExists(path)).rejects.toMatchObject({ code: 'OUTPUT_FAILED', message: says })
})

test('an error from writing a file has a fix', async () => {
  const folder = tempFolder()
  writeFileSync(join(folder, 'file'), '')
  const written = (...names: string[]) => writeAtomically(join(folder, ...names), 'text')
  const failure = {
    code: 'OUTPUT_FAILED',
    fix: 'Check the path: a folder in it does not exist or is a file.',
  }
  await expect(written('no', 'such')).rejects.toMatchObject(failure)
  await expect(written('file', 'in')).rejects.toMatchObject(failure)
  await expect(written('.')).rejects.toMatchObject({ fix: 'Name a file: this is a folder.' })
})

test.for(['EACCES', 'EPERM', 'EROFS'])('%s has the fix for permissions', (code) => {
  const failure = Object.assign(new Error('no'), { code })
  expect(diskError('cannot read x', failure).fix).toBe(PERMISSION_FIX)
  expect(toExportError(failure)).toMatchObject({ code: 'OUTPUT_FAILED', fix: PERMISSION_FIX })
})

test.for([
  { code: 'EEXIST', fix: 'Name a folder: this is a file, or move the file away.' },
  { code: 'EISDIR', fix: 'Name a file: this is a folder.' },
  { code: 'EMFILE', fix: 'Raise the limit on open files (ulimit -n 4096) and run again: it resumes.' },
  { code: 'ELOOP', fix: 'Remove the symbolic link: a regular file or folder belongs there.' },
])('$code has a fix even if its message says nothing', ({ code, fix }) => {
  expect(toExportError(Object.assign(new Error('no'), { code })).fix).toBe(fix)
})

test('a full disk has the default fix', () => {
  const full = diskError('cannot write x', Object.assign(new Error(), { code: 'ENOSPC' }))
  expect(full.fix).toBe(FAILURES.OUTPUT_FAILED.fix)
})
