import { readdirSync, readFileSync } from 'node:fs'
import { builtinModules } from 'node:module'
import { dirname, join, normalize } from 'node:path'
import { expect, test } from 'vitest'

const SRC = join(import.meta.dirname, '..', 'src')
const SHELF = ['model', 'errors', 'disk', 'item-key', 'block-ranges', 'manifest', 'figures', 'version']
const COMPOSERS = [
  ...['run', 'export-job', 'earlier-export', 'crawl', 'inspect-job', 'index', 'bin'],
  ...['write-output', 'slicer', 'write-slice', 'write-task', 'write-pool', 'write-threads', 'write-worker'],
  'load-into',
]
    if (done.has(file)) return []
    const cycles = internalsOf(file).flatMap((target) => walk(target, [...path, file]))
    done.add(file)
    return cycles
  }
  expect(files.flatMap((file) => walk(file, []))).toEqual([])
})

test('each third-party package is imported from one room only', () => {
  const rooms = new Map<string, Set<string>>()
  for (const file of files) {
    for (const name of importsOf(file).filter(isThirdParty)) {
      const importers = rooms.get(packageOf(name)) ?? new Set()
      rooms.set(packageOf(name), importers.add(roomOf(file) || file))
    }
  }
  const shared = [...rooms].filter(([, importers]) => importers.size > 1)
  expect(Object.fromEntries(shared.map(([name, importers]) => [name, [...importers].sort()]))).toEqual(
    SHARED_PACKAGES,
  )
  expect([...rooms.keys()]).toContain('undici')
})

const isThirdParty = (name: string) =>
  !name.startsWith('.') && !name.startsWith('node:') && !builtinModules.includes(name)

const packageOf = (name: string) =>
  name
    .split('/')
    .slice(0, name.startsWith('@') ? 2 : 1)
    .join('/')

test('no file is longer than 250 lines', () => {
  const long = files.filter((file) => textOf(file).split('\n').length > 251)
  expect(long).toEqual([])
})
