import { execFileSync } from 'node:child_process'
import { cpSync, existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { tempFolder } from '../helpers/temp-folder.ts'

const ROOT = join(import.meta.dirname, '../..')

type Entry = { integrity?: string; link?: boolean; dev?: boolean }
type Lock = { packages: Record<string, Entry & { devDependencies?: object }> }

const lockAt = (path: string) => JSON.parse(readFileSync(path, 'utf8')) as Lock

test('every package of the lockfile has a checksum, those for other systems included', () => {
  const { packages } = lockAt(join(ROOT, 'package-lock.json'))
  const without = Object.entries(packages).filter(
    ([path, { integrity, link }]) =>
      path !== '' && link !== true && !/^sha512-.{86}==$/.test(integrity ?? ''),
  )
  expect(without.map(([path]) => path)).toEqual([])
  expect(Object.keys(packages).length).toBeGreaterThan(300)
})

test('the shrinkwrap of the tarball is the lockfile without development packages', () => {
  const folder = tempFolder()
  cpSync(join(ROOT, 'package-lock.json'), join(folder, 'package-lock.json'))
  const script = join(ROOT, '.ci/shrinkwrap.js')
  execFileSync(process.execPath, [script], { cwd: folder })
  const path = join(folder, 'npm-shrinkwrap.json')
  const { packages } = lockAt(path)
  const kept = Object.entries(lockAt(join(ROOT, 'package-lock.json')).packages)
    .filter(([, { dev }]) => dev !== true)
    .map(([name]) => name)
  expect(Object.keys(packages)).toEqual(kept)
  expect(packages['']?.devDependencies).toBeUndefined()
  execFileSync(process.execPath, [script, 'remove'], { cwd: folder })
  expect(existsSync(path)).toBe(false)
})
