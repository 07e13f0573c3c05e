import { readdirSync, statSync } from 'node:fs'
import { join, relative } from 'node:path'
import { expect, test } from 'vitest'
import { runCommand } from '../../helpers/command.ts'
import { faultWhere, respondWith } from '../../helpers/faults.ts'
import { service } from '../../helpers/faulty-run.ts'
import { writeJobFile } from '../../helpers/jobs.ts'
import { startLoopback } from '../../helpers/loopback.ts'
import { smallWallets } from '../../helpers/node-data.ts'
import { tempFolder } from '../../helpers/temp-folder.ts'
import { testSample } from '../../helpers/test-sample.ts'

/** Permissions of all entries in a folder, by path. */
function modesBelow(folder: string): [path: string, mode: string][] {
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true })
  return entries.map((entry) => {
    const path = join(entry.parentPath, entry.name)
    return [
      `${relative(folder, path)}${entry.isDirectory() ? '/' : ''}`,
      (statSync(path).mode & 0o777).toString(8),
    ]
  })
}

testSample(
  1,
  [
    { umask: '022', file: '644', folder: '755' },
    { umask: '002', file: '664', folder: '775' },
    { umask: '077', file: '600', folder: '700' },
  ],
  'with umask $umask, export files are $file and private files 600',
  async ({ umask, ...expected }) => {
    const { url } = await startLoopback(service)
    const output = join(tempFolder(), 'out')
    const at = (name: string) => join(output, '..', name)
    const shell = `umask ${umask}`
    const addresses = smallWallets.slice(0, 2)
    const { job } = writeJobFile('job', { addresses, output, keepRaw: true })
    for (const words of [
      ['run', job, '--base-url', url, '--quiet'],
      ['report', output],
      ['convert', output, '--to', 'koinly', '--out', at('koinly.csv')],
      ['convert', output, '--to', 'generic', '--per-wallet', '--out', at('each')],
    ])
      expect((await runCommand(words, {}, { shell })).exit).toBe(0)
    const modes = modesBelow(join(output, '..'))
    const isPrivate = (path: string) => path.startsWith('out/.walletlake/')
    const wanted = (path: string) => {
      if (isPrivate(path)) return path.endsWith('/') ? '700' : '600'
      return path.endsWith('/') ? expected.folder : expected.file
    }
    expect(modes.filter(([path]) => isPrivate(path)).length).toBeGreaterThan(1)
    expect(modes).toEqual(modes.map(([path]) => [path, wanted(path)]))
  },
)

test('only the owner can read the checkpoint of an unfinished run', async () => {
  const refuses = faultWhere(({ count }) => count > 2, respondWith(400, '{}'))
  const { url } = await startLoopback(service, refuses)
  const output = join(tempFolder(), 'out')
  const wallets = smallWallets.slice(0, 5).flatMap((address) => ['--address', address])
  const words = ['run', '--chain', '43114', ...wallets, '--base-url', url, '--output', output, '--quiet']
  expect((await runCommand(words, {}, { shell: 'umask 000' })).exit).toBe(4)
  const below = modesBelow(join(output, '.walletlake')).map(([path, mode]) => [path.endsWith('/'), mode])
  expect(statSync(join(output, '.walletlake')).mode & 0o777).toBe(0o700)
  expect(below.filter(([isFolder]) => isFolder === false)).not.toEqual([])
  for (const [isFolder, mode] of below) if (!isFolder) expect(mode).toBe('600')
})
