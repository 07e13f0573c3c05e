import { mkdirSync, openSync, readFileSync, realpathSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import {
  assertNotFolder,
  inputError,
  resolveOutputPath,
  resolveWritePath,
  writeNamedFile,
} from '../../../src/core/platform/user-file.ts'
import { makeNamedPipe } from '../../helpers/named-pipe.ts'
import { tempFolder } from '../../helpers/temp-folder.ts'

const refusal = {
  code: 'USAGE',
  message: expect.stringContaining(' is a pipe, a device or a broken link'),
  fix: 'Name a file.',
}

test('resolves links, even if the file does not exist yet', async () => {
  const folder = realpathSync(tempFolder())
  mkdirSync(join(folder, 'far', 'in'), { recursive: true })
  writeFileSync(join(folder, 'far', 'a.csv'), '')
  symlinkSync(join('far', 'a.csv'), join(folder, 'link.csv'))
  symlinkSync(join('far', 'in'), join(folder, 'linked'))
  expect(await resolveWritePath(join(folder, 'link.csv'))).toBe(join(folder, 'far', 'a.csv'))
  expect(await resolveWritePath(join(folder, 'linked', 'new.csv'))).toBe(join(folder, 'far', 'in', 'new.csv'))
  expect(await resolveWritePath(`${folder}/linked/../new.csv`)).toBe(join(folder, 'far', 'new.csv'))
  expect(await resolveWritePath(join(folder, 'no', 'such', 'new.csv'))).toBe(
    join(folder, 'no', 'such', 'new.csv'),
  )
})

test('refuses paths that are neither files nor folders, even through links', async () => {
  const folder = tempFolder()
  makeNamedPipe(join(folder, 'pipe'))
  symlinkSync('pipe', join(folder, 'to-pipe'))
  symlinkSync('nothing', join(folder, 'to-nothing'))
  symlinkSync('to-itself', join(folder, 'to-itself'))
  for (const name of ['pipe', 'to-pipe', 'to-nothing', 'to-itself'])
    await expect(resolveWritePath(join(folder, name)), name).rejects.toMatchObject(refusal)
})

test('refuses open streams of the process, even if they are files', async () => {
  const opened = openSync(join(tempFolder(), 'all.csv'), 'a')
  for (const path of [`/dev/fd/${opened}`, '/dev/stdout', '/dev/../dev/stderr', '/dev/null'])
    await expect(resolveWritePath(path), path).rejects.toMatchObject(refusal)
})

test('refuses to overwrite an input file under any of its paths', async () => {
  const folder = realpathSync(tempFolder())
  mkdirSync(join(folder, 'in'))
  writeFileSync(join(folder, 'prices.csv'), '')
  symlinkSync('prices.csv', join(folder, 'link.csv'))
  const protectedPaths = {
    inputs: { '--labels': undefined, '--prices': `${folder}/in/../prices.csv` },
    exports: [],
  }
  for (const name of ['prices.csv', 'link.csv'])
    await expect(resolveOutputPath(join(folder, name), protectedPaths), name).rejects.toMatchObject({
      code: 'USAGE',
      message: `${join(folder, name)} is the file that --prices names`,
      fix: 'Name another file.',
    })
  expect(await resolveOutputPath(join(folder, 'a.csv'), protectedPaths)).toBe(join(folder, 'a.csv'))
})

test('refuses to overwrite a part of an export under any of its paths', async () => {
  const folder = realpathSync(tempFolder())
  mkdirSync(join(folder, 'mine'))
  symlinkSync('mine', join(folder, 'linked'))
  const protectedPaths = { inputs: {}, exports: [join(folder, 'linked')] }
  for (const name of ['mine', 'mine/manifest.json', 'linked/ledger/a.csv'])
    await expect(resolveOutputPath(join(folder, name), protectedPaths), name).rejects.toMatchObject({
      code: 'USAGE',
      message: expect.stringContaining(`is part of the export ${join(folder, 'linked')}`),
      fix: 'Name another path.',
    })
  for (const name of ['mine.csv', 'mine/koinly.csv'])
    expect(await resolveOutputPath(join(folder, name), protectedPaths)).toBe(join(folder, name))
})

test('refuses a folder, and a path that ends in a slash, as a file to write', async () => {
  const folder = tempFolder()
  const failure = {
    code: 'OUTPUT_FAILED',
    message: expect.stringMatching(/^cannot write .*: it is a folder$/),
    fix: 'Name a file: this is a folder.',
  }
  for (const path of [folder, join(folder, 'new/'), ''])
    await expect(assertNotFolder(path), path).rejects.toMatchObject(failure)
  await assertNotFolder(join(folder, 'new'))
})

test('creates the folder of a named file unless a file is in its place', async () => {
  const folder = tempFolder()
  await writeNamedFile(join(folder, 'no', 'such', 'a.csv'), 'text')
  expect(readFileSync(join(folder, 'no', 'such', 'a.csv'), 'utf8')).toBe('text')
  writeFileSync(join(folder, 'file'), '')
  await expect(writeNamedFile(join(folder, 'file', 'a.csv'), 'text')).rejects.toMatchObject({
    code: 'OUTPUT_FAILED',
    fix: 'Name a folder: this is a file, or move the file away.',
  })
})

test.for([
  { code: 'ENOENT', why: 'there is no such file' },
  { code: 'EISDIR', why: 'it is a folder' },
  { code: 'EACCES', why: 'you have no permission' },
  { code: 'EIO', why: 'i/o error' },
])('reports in plain words why a user file cannot be read: $code', ({ code, why }) => {
  const failure = inputError('a.csv', Object.assign(new Error('i/o error'), { code }), 'Name a CSV file.')
  expect(failure).toMatchObject({
    code: 'USAGE',
    message: `cannot read a.csv: ${why}`,
    fix: 'Name a CSV file.',
  })
})

test('does not follow a link inside an export', async () => {
  const folder = realpathSync(tempFolder())
  mkdirSync(join(folder, 'mine'))
  writeFileSync(join(folder, 'canary'), 'kept')
  symlinkSync(join(folder, 'canary'), join(folder, 'mine', 'report.html'))
  const protectedPaths = { inputs: {}, exports: [join(folder, 'mine')] }
  await expect(resolveOutputPath(join(folder, 'mine', 'report.html'), protectedPaths)).rejects.toMatchObject({
    code: 'OUTPUT_FAILED',
    message: expect.stringContaining('is a symbolic link inside the export'),
  })
  symlinkSync(join(folder, 'canary'), join(folder, 'report.html'))
  expect(await resolveOutputPath(join(folder, 'report.html'), protectedPaths)).toBe(join(folder, 'canary'))
})
