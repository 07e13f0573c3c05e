import { lstat, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { openTextFiles } from '../../src/accounting/text-files.ts'
import { makeNamedPipe } from '../helpers/named-pipe.ts'

let folder: string
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'walletlake-text-files-'))
})
afterEach(() => rm(folder, { recursive: true, force: true }))

test('writes several files with more text than is buffered, and single texts longer than the buffer', async () => {
  const files = openTextFiles()
  const expected = new Map<string, string>()
  const add = (name: string, text: string) => {
    files.add(join(folder, name), text, `head of ${name}\n`)
    expected.set(name, (expected.get(name) ?? `head of ${name}\n`) + text)
  }
  for (let n = 0; n < 30_000; n += 1) {
    add(`${n % 7 === 0 ? 'a' : 'b'}.csv`, `${n},é,김치,😀,${'x'.repeat(n % 90)}\n`)
    if (n % 9_000 === 0) add('c.csv', '金'.repeat(1_500_000))
    if (n % 3 === 0) await files.flush()
  }
  expect((await readdir(folder)).every((name) => /^\.walletlake-[\da-f-]+\.part$/.test(name))).toBe(true)
  expect(await files.finish()).toEqual(['a.csv', 'c.csv', 'b.csv'].map((name) => join(folder, name)))
  for (const [name, text] of expected)
    expect((await readFile(join(folder, name), 'utf8')) === text, name).toBe(true)
  expect((await readdir(folder)).sort()).toEqual(['a.csv', 'b.csv', 'c.csv'])
})

test('names a file that cannot be written, and abort removes everything', async () => {
  const files = openTextFiles()
  const path = join(folder, 'file', 'a.csv')
  await writeFile(join(folder, 'file'), '')
  files.add(path, 'x'.repeat(1_000_000))
  await files.flush()
  files.add(join(folder, 'b.csv'), 'x'.repeat(1_000_000))
  await expect(files.flush()).rejects.toMatchObject({
    code: 'OUTPUT_FAILED',
    message: expect.stringContaining(path),
  })
  await files.abort()
  expect(await readdir(folder)).toEqual(['file'])
})

test('creates a missing folder with the first write', async () => {
  const path = join(folder, 'no', 'such', 'a.csv')
  const files = openTextFiles()
  files.add(path, 'text', 'head\n')
  expect(await readdir(folder)).toEqual([])
  await files.finish()
  expect(await readFile(path, 'utf8')).toBe('head\ntext')
})

test('creates a file without text with its header, or empty if it has none', async () => {
  const files = openTextFiles()
  files.add(join(folder, 'a.csv'), '', 'head\n')
  files.add(join(folder, 'b.csv'), '')
  await files.finish()
  expect(await readFile(join(folder, 'a.csv'), 'utf8')).toBe('head\n')
  expect(await readFile(join(folder, 'b.csv'), 'utf8')).toBe('')
})

test('replaces the target of a symbolic link and keeps the link', async () => {
  await writeFile(join(folder, 'a.csv'), 'old')
  await symlink('a.csv', join(folder, 'link.csv'))
  const files = openTextFiles()
  files.add(join(folder, 'link.csv'), 'new')
  await files.finish()
  expect((await lstat(join(folder, 'link.csv'))).isSymbolicLink()).toBe(true)
  expect(await readFile(join(folder, 'a.csv'), 'utf8')).toBe('new')
  expect((await readdir(folder)).sort()).toEqual(['a.csv', 'link.csv'])
})

test('rejects a named pipe, keeps it, and replaces no other file', async () => {
  await writeFile(join(folder, 'a.csv'), 'old')
  makeNamedPipe(join(folder, 'pipe'))
  const files = openTextFiles()
  files.add(join(folder, 'a.csv'), 'new')
  files.add(join(folder, 'pipe'), 'new')
  await expect(files.finish()).rejects.toMatchObject({ code: 'USAGE' })
  await files.abort()
  expect((await lstat(join(folder, 'pipe'))).isFIFO()).toBe(true)
  expect(await readFile(join(folder, 'a.csv'), 'utf8')).toBe('old')
  expect((await readdir(folder)).sort()).toEqual(['a.csv', 'pipe'])
})
