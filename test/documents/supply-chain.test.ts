import { execFileSync, spawnSync } from 'node:child_process'
import { cpSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { parse } from 'yaml'
import { tempFolder } from '../helpers/temp-folder.ts'

const ROOT = join(import.meta.dirname, '../..')

type Entry = { integrity?: string; link?: boolean; dev?: boolean }
type Packed = { files: { path: string }[] }
type Lock = { packages: Record<string, Entry & { devDependencies?: object }> }

const lockAt = (path: string) => JSON.parse(readFileSync(path, 'utf8')) as Lock

test('every package of the lockfile has a checksum, including those for other systems', () => {
  const { packages } = lockAt(join(ROOT, 'package-lock.json'))
  const without = Object.entries(packages).filter(
    ([path, { integrity, link }]) =>
      path !== '' && link !== true && !/^sha512-.{86}==$/.test(integrity ?? ''),
  )
  expect(without.map(([path]) => path)).toEqual([])
  expect(Object.keys(packages).length).toBeGreaterThan(300)
})

test('the hosted workflow runs every supported Node on three systems, with pinned actions that may only read', () => {
  const text = readFileSync(join(ROOT, '.github/workflows/ci.yml'), 'utf8')
  const used = text.match(/uses: .*/g) ?? []
  expect(used.length).toBeGreaterThan(0)
  expect(used.filter((line) => !/^uses: [\w/-]+@[\da-f]{40} # v\d+\.\d+\.\d+$/.test(line))).toEqual([])
  const { permissions, jobs } = parse(text) as {
    permissions: object
    jobs: Record<string, { 'runs-on': string; strategy: { matrix: { node: string[]; os?: string[] } } }>
  }
  expect(permissions).toEqual({ contents: 'read' })
  const systems = Object.values(jobs).flatMap((job) => job.strategy.matrix.os ?? job['runs-on'])
  expect(systems.map((name) => name.replace(/-.*/, ''))).toEqual(['ubuntu', 'macos', 'windows'])
  const { engines } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as {
    engines: { node: string }
  }
  const oldest = engines.node.replace('>=', '')
  for (const { strategy } of Object.values(jobs)) expect(strategy.matrix.node).toEqual([oldest, '22', '24'])
})

const SCRIPT = join(ROOT, '.ci/shrinkwrap.js')
const NPM_OFFLINE = ['--ignore-scripts', '--offline', '--no-audit', '--no-fund']

/** Creates a folder with the package before packing; `run` runs the script in it. */
function packageFolder() {
  const folder = tempFolder()
  for (const file of ['package.json', 'package-lock.json']) cpSync(join(ROOT, file), join(folder, file))
  const read = (file: string) => readFileSync(join(folder, file), 'utf8')
  const run = (...words: string[]) => execFileSync(process.execPath, [SCRIPT, ...words], { cwd: folder })
  return { folder, read, run, files: () => readdirSync(folder).sort() }
}

test('the tarball contains a shrinkwrap: the lockfile without development packages', {
  tags: ['long'],
}, () => {
  const { folder, run, files, read } = packageFolder()
  run()
  const { packages } = lockAt(join(folder, 'npm-shrinkwrap.json'))
  const kept = Object.entries(lockAt(join(ROOT, 'package-lock.json')).packages)
    .filter(([, { dev }]) => dev !== true)
    .map(([name]) => name)
  expect(Object.keys(packages)).toEqual(kept)
  expect(packages['']?.devDependencies).toBeUndefined()
  const words = ['pack', '--dry-run', '--json', ...NPM_OFFLINE]
  const [packed] = JSON.parse(execFileSync('npm', words, { cwd: folder, encoding: 'utf8' })) as Packed[]
  const paths = packed?.files.map((file) => file.path)
  expect(paths).toEqual(expect.arrayContaining(['npm-shrinkwrap.json', 'package.json']))
  expect(paths).not.toContain('package.json.saved')
  run('remove')
  expect(files()).toEqual(['package-lock.json', 'package.json'])
  expect(read('package.json')).toBe(readFileSync(join(ROOT, 'package.json'), 'utf8'))
})

test('npm ci --omit=dev accepts the tarball', { tags: ['long'] }, () => {
  const { folder, run } = packageFolder()
  run()
  // The tarball has no package-lock.json.
  rmSync(join(folder, 'package-lock.json'))
  const words = ['ci', '--omit=dev', '--dry-run', ...NPM_OFFLINE]
  const { status, stderr } = spawnSync('npm', words, { cwd: folder, encoding: 'utf8' })
  expect([status, stderr]).toEqual([0, expect.not.stringContaining('npm error')])
})

test('restores package.json after an interrupted packing without losing later changes', () => {
  const { folder, run, files, read } = packageFolder()
  const original = read('package.json')
  const packed = () => [read('package.json'), read('npm-shrinkwrap.json'), read('package.json.saved')]
  run()
  const once = packed()
  expect([once[0], once[2]]).toEqual([expect.not.stringContaining('devDependencies'), original])
  run()
  expect(packed()).toEqual(once)
  writeFileSync(join(folder, 'package.json'), '{"name":"changed"}')
  const again = spawnSync(process.execPath, [SCRIPT], { cwd: folder, encoding: 'utf8' })
  expect([again.status, again.stderr]).toEqual([
    1,
    expect.stringContaining('merge it with package.json.saved'),
  ])
  expect(read('package.json')).toBe('{"name":"changed"}')
  writeFileSync(join(folder, 'package.json'), once[0] ?? '')
  run('remove')
  expect([files(), read('package.json')]).toEqual([['package-lock.json', 'package.json'], original])
})
