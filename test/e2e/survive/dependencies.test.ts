// @module-tag long

import { execFileSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'

const ROOT = join(import.meta.dirname, '..', '..', '..')
const readJson = (name: string) => JSON.parse(readFileSync(join(ROOT, name), 'utf8')) as unknown

type Versions = Record<string, string>
type Locked = {
  version?: string
  resolved?: string
  integrity?: string
  dev?: boolean
  optional?: boolean
  os?: string[]
  cpu?: string[]
  hasInstallScript?: boolean
  dependencies?: Versions
  devDependencies?: Versions
}

const { dependencies, devDependencies } = readJson('package.json') as Record<string, Versions>
const { packages } = readJson('package-lock.json') as { packages: Record<string, Locked> }
const { '': root, ...locked } = packages

test('every dependency has an exact version', () => {
  const versions = Object.entries({ ...dependencies, ...devDependencies })
  expect(versions.filter(([, version]) => !/^\d+\.\d+\.\d+(-[\w.]+)?$/.test(version))).toEqual([])
  expect(versions.length).toBeGreaterThan(10)
})

test('the lockfile contains every dependency, from the registry and with a hash', () => {
  expect(root).toMatchObject({ dependencies, devDependencies })
  for (const [name, version] of Object.entries({ ...dependencies, ...devDependencies }))
    expect([name, locked[`node_modules/${name}`]?.version]).toEqual([name, version])
  expect(Object.entries(locked).filter(([, entry]) => !isPinned(entry))).toEqual([])
  const origins = Object.values(locked).flatMap(({ resolved }) =>
    resolved === undefined ? [] : [new URL(resolved).origin],
  )
  expect(new Set(origins).size).toBeLessThanOrEqual(1)
})

/** Binaries for other systems are optional. npm lists them without a hash if it never fetched them. */
function isPinned({ resolved, integrity, optional, os, cpu }: Locked): boolean {
  if (resolved !== undefined && !resolved.startsWith('https://')) return false
  if (integrity !== undefined) return /^sha(512|384)-/.test(integrity)
  return optional === true && os !== undefined && cpu !== undefined
}

test('no runtime dependency has an install script', () => {
  const running = Object.entries(locked).filter(([, { dev }]) => dev !== true)
  expect(running.filter(([, { hasInstallScript }]) => hasInstallScript === true)).toEqual([])
  expect(running.length).toBeGreaterThan(Object.keys(dependencies ?? {}).length)
})

const NEEDED =
  /^(package\.json|([\w/-]+\/)?[A-Z]+\.md|LICENSE|output\/demo-report(-phone)?\.png|jobs\/(examples\/|schedule\/(action\/)?)?[\w.-]+|dist\/.+\.(js|d\.ts)|dist\/LICENSES\.txt|src\/demo-server\/chains\/.+)$/

test('the package contains only the program and its documentation', () => {
  const out = execFileSync('npm', ['pack', '--dry-run', '--json', '--ignore-scripts'], {
    cwd: ROOT,
    encoding: 'utf8',
  })
  const [{ files, size } = { files: [], size: 0 }] = JSON.parse(out) as {
    files: { path: string }[]
    size: number
  }[]
  const paths = files.map(({ path }) => path)
  expect(paths.filter((path) => !NEEDED.test(path))).toEqual([])
  expect(paths).toEqual(
    expect.arrayContaining(['dist/bin.js', 'dist/index.d.ts', 'jobs/examples/demo.yaml', 'LICENSE']),
  )
  expect(size).toBeLessThan(5_000_000)
})

test('the package contains the licences of bundled dependencies', () => {
  const dist = join(ROOT, 'dist')
  const files = readdirSync(dist).filter((name) => name.endsWith('.js'))
  const code = files.map((name) => readFileSync(join(dist, name), 'utf8')).join('\n')
  const folders = [...code.matchAll(/^\/\/ (node_modules\/\S+)$/gm)].map(([, path = '']) => path)
  const bundled = folders.map((path) => /^.*node_modules\/(@[^/]+\/)?[^/]+/.exec(path)?.[0] ?? path)
  const licences = readFileSync(join(dist, 'LICENSES.txt'), 'utf8')
  const named = [...new Set(bundled)].map(
    (folder) => `${folder.replace(/^.*node_modules\//, '')} ${locked[folder]?.version}\n`,
  )
  expect(named).toContain(`undici ${dependencies?.undici}\n`)
  expect(named.filter((name) => !licences.includes(name))).toEqual([])
  expect(
    licences.match(
      /Permission (is hereby granted|to use, copy)|^ +Apache License$|under the Apache License|^Redistribution and use/gm,
    )?.length,
  ).toBeGreaterThanOrEqual(named.length)
})
