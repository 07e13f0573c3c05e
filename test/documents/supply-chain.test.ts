import { execFileSync } from 'node:child_process'
import { cpSync, existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { tempFolder } from '../helpers/temp-folder.ts'

const ROOT = join(import.meta.dirname, '../..')

type Entry = { integrity?: string; link?: boolean; dev?: boolean }
type Packed = { files: { path: string }[] }
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

test('the tarball holds a shrinkwrap, which is the lockfile without development packages', () => {
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
  cpSync(join(ROOT, 'package.json'), join(folder, 'package.json'))
  const words = ['pack', '--dry-run', '--json', '--ignore-scripts', '--offline']
  const [packed] = JSON.parse(execFileSync('npm', words, { cwd: folder, encoding: 'utf8' })) as Packed[]
  expect(packed?.files.map((file) => file.path)).toContain('npm-shrinkwrap.json')
  execFileSync(process.execPath, [script, 'remove'], { cwd: folder })
  expect(existsSync(path)).toBe(false)
})
