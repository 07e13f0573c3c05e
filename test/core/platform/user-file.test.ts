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

test('a file is written where its links lead, one that is not there yet too', async () => {
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

test('what is neither a file nor a folder is refused, through a link too', async () => {
  const folder = tempFolder()
  makeNamedPipe(join(folder, 'pipe'))
  symlinkSync('pipe', join(folder, 'to-pipe'))
  symlinkSync('nothing', join(folder, 'to-nothing'))
  symlinkSync('to-itself', join(folder, 'to-itself'))
  for (const name of ['pipe', 'to-pipe', 'to-nothing', 'to-itself'])
    await expect(resolveWritePath(join(folder, name)), name).rejects.toMatchObject(refusal)
})

test('a stream of the process is refused, a file behind it too', async () => {
  const opened = openSync(join(tempFolder(), 'all.csv'), 'a')
  for (const path of [`/dev/fd/${opened}`, '/dev/stdout', '/dev/../dev/stderr', '/dev/null'])
    await expect(resolveWritePath(path), path).rejects.toMatchObject(refusal)
})

test('a file that a command reads is not written over, whatever way it is named', async () => {
  const folder = realpathSync(tempFolder())
  mkdirSync(join(folder, 'in'))
  writeFileSync(join(folder, 'prices.csv'), '')
  symlinkSync('prices.csv', join(folder, 'link.csv'))
  const kept = { inputs: { '--labels': undefined, '--prices': `${folder}/in/../prices.csv` }, exports: [] }
  for (const name of ['prices.csv', 'link.csv'])
    await expect(resolveOutputPath(join(folder, name), kept), name).rejects.toMatchObject({
      code: 'USAGE',
      message: `${join(folder, name)} is the file that --prices names`,
      fix: 'Name another file with --out.',
    })
  expect(await resolveOutputPath(join(folder, 'a.csv'), kept)).toBe(join(folder, 'a.csv'))
})

test('no part of an export is written over, whatever way it is named', async () => {
  const folder = realpathSync(tempFolder())
  mkdirSync(join(folder, 'mine'))
  symlinkSync('mine', join(folder, 'linked'))
  const kept = { inputs: {}, exports: [join(folder, 'linked')] }
  for (const name of ['mine', 'mine/manifest.json', 'linked/ledger/a.csv'])
    await expect(resolveOutputPath(join(folder, name), kept), name).rejects.toMatchObject({
      code: 'USAGE',
      message: expect.stringContaining(`is part of the export ${join(folder, 'linked')}`),
      fix: 'Name another path with --out.',
    })
  for (const name of ['mine.csv', 'mine/koinly.csv'])
    expect(await resolveOutputPath(join(folder, name), kept)).toBe(join(folder, name))
})

test('a folder is no file to write, whether it is there or only meant', async () => {
  const folder = tempFolder()
  const fault = { code: 'OUTPUT_FAILED', fix: 'Name a file: this is a folder.' }
  for (const path of [folder, join(folder, 'new/'), ''])
    await expect(assertNotFolder(path), path).rejects.toMatchObject(fault)
  await assertNotFolder(join(folder, 'new'))
})

test('the folder of a named file is made, unless a file stands in its way', async () => {
  const folder = tempFolder()
  await writeNamedFile(join(folder, 'no', 'such', 'a.csv'), 'text')
  expect(readFileSync(join(folder, 'no', 'such', 'a.csv'), 'utf8')).toBe('text')
  writeFileSync(join(folder, 'file'), '')
  await expect(writeNamedFile(join(folder, 'file', 'a.csv'), 'text')).rejects.toMatchObject({
    code: 'OUTPUT_FAILED',
    fix: 'Check the path: a folder in it does not exist or is a file.',
  })
})

test.for([
  { code: 'ENOENT', why: 'there is no such file' },
  { code: 'EISDIR', why: 'it is a folder' },
  { code: 'EACCES', why: 'you have no permission' },
  { code: 'EIO', why: 'i/o error' },
])('a file that a user names and that cannot be read has plain words: $code', ({ code, why }) => {
  const fault = inputError('a.csv', Object.assign(new Error('i/o error'), { code }), 'Name a CSV file.')
  expect(fault).toMatchObject({
    code: 'USAGE',
    message: `cannot read a.csv: ${why}`,
    fix: 'Name a CSV file.',
  })
})

test('a link inside an export is not followed', async () => {
  const folder = realpathSync(tempFolder())
  mkdirSync(join(folder, 'mine'))
  writeFileSync(join(folder, 'canary'), 'kept')
  symlinkSync(join(folder, 'canary'), join(folder, 'mine', 'report.html'))
  const kept = { inputs: {}, exports: [join(folder, 'mine')] }
  await expect(resolveOutputPath(join(folder, 'mine', 'report.html'), kept)).rejects.toMatchObject({
    code: 'OUTPUT_FAILED',
    message: expect.stringContaining('is a symbolic link inside the export'),
  })
  symlinkSync(join(folder, 'canary'), join(folder, 'report.html'))
  expect(await resolveOutputPath(join(folder, 'report.html'), kept)).toBe(join(folder, 'canary'))
})
