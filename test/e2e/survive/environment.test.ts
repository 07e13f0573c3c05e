import { spawnSync } from 'node:child_process'
import { readFileSync, statSync, truncateSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, expect, test } from 'vitest'
import { NODE_VERSION } from '../../../src/core/platform/node-version.ts'
import { runCommand } from '../../helpers/command.ts'
import { exportDemo } from '../../helpers/demo-export.ts'
import { demoWallets } from '../../helpers/node-data.ts'
import { suiteFolder, tempFile, tempFolder } from '../../helpers/temp-folder.ts'
import { testSample } from '../../helpers/test-sample.ts'

const output = join(suiteFolder(), 'out')

beforeAll(() => exportDemo(output, { addresses: demoWallets.slice(39, 42) }))

/** A preloaded module that makes the program see another Node version. */
const pretendNode = (version: string) => ({
  NODE_OPTIONS: `--import "data:text/javascript,Object.defineProperty(process,'versions',{value:{...process.versions,node:'${version}'}})"`,
})

test.for(['18.20.8', '20.18.3'])(
  'rejects Node %s in one sentence that names the required version',
  async (version) => {
    const { exit, stdout, stderr } = await runCommand(['verify', output], pretendNode(version))
    expect([exit, stdout]).toEqual([2, ''])
    expect(stderr).toBe(`walletlake needs Node 20.19 or newer; this is Node ${version}.\n`)
  },
)

test('the required version is that of package.json', () => {
  const { engines } = JSON.parse(readFileSync('package.json', 'utf8')) as { engines: { node: string } }
  expect(engines.node).toBe(`>=${NODE_VERSION.major}.${NODE_VERSION.minor}`)
  const bin = readFileSync('dist/bin.js', 'utf8')
  const chunk = /import ?"\.\/(chunk-\w+\.js)"/.exec(bin)?.[1] ?? ''
  // Old versions resolve imports before any code runs, so only Node's createRequire may be imported.
  for (const text of [bin, readFileSync(join('dist', chunk), 'utf8')])
    expect(text.match(/import ?\{[^}]*\} ?from ?['"][^'"]+['"]/g)).toEqual([
      "import { createRequire as requireFrom } from 'node:module'",
    ])
})

const COMMANDS = [
  ['verify', output],
  ['query', output, 'select count(*) from ledger'],
  ['load', output, '--to', 'duckdb:lake.db'],
]

testSample(2, COMMANDS, '%s mentions TMPDIR if it does not exist', async (words) => {
  const cwd = tempFolder()
  const { exit, stderr } = await runCommand(words, { TMPDIR: join(cwd, 'missing') }, { cwd })
  expect([exit, stderr]).toEqual([
    7,
    expect.stringMatching(/^OUTPUT_FAILED: .*missing: ENOENT\nfix: Set TMPDIR to /),
  ])
})

testSample(
  1,
  ['16k', '64k'],
  'a temporary folder of %s does not make a valid export fail verification',
  async (size, { skip, onTestFinished }) => {
    const TMPDIR = tempFolder()
    if (spawnSync('mount', ['-t', 'tmpfs', '-o', `size=${size}`, 'tmpfs', TMPDIR]).status !== 0)
      skip('mounting is not allowed here')
    onTestFinished(() => void spawnSync('umount', [TMPDIR]))
    expect(await runCommand(['verify', output], { TMPDIR })).toMatchObject({ exit: 0 })
    spawnSync('mount', ['-o', 'remount,ro', TMPDIR])
    const readOnly = await runCommand(['verify', output], { TMPDIR })
    expect([readOnly.exit, readOnly.stderr]).toEqual([7, expect.stringMatching(/EROFS\nfix: Set TMPDIR to /)])
  },
)

testSample(
  1,
  [16, 8192],
  'replaces a DuckDB file that was truncated to %i bytes during its creation',
  async (bytes) => {
    const file = join(tempFolder(), 'lake.db')
    expect((await runCommand(['load', output, '--to', `duckdb:${file}`])).exit).toBe(0)
    truncateSync(file, bytes)
    const again = await runCommand(['load', output, '--to', `duckdb:${file}`])
    expect([again.exit, again.stderr.includes('LOAD_FAILED')]).toEqual([0, false])
    expect(statSync(file).size).toBeGreaterThan(12_288)
  },
)

test('does not treat a small file of another kind as a truncated DuckDB file', async () => {
  const file = tempFile('notes.txt', 'my notes, which are short')
  expect((await runCommand(['load', output, '--to', `duckdb:${file}`])).exit).toBe(7)
  expect(readFileSync(file, 'utf8')).toBe('my notes, which are short')
})

test('leaves no database on a disk that is too small for it', { tags: ['long'] }, async ({
  skip,
  onTestFinished,
}) => {
  const disk = tempFolder()
  const mount = (...options: string[]) =>
    spawnSync('mount', ['-t', 'tmpfs', '-o', options.join(','), 'tmpfs', disk]).status
  if (mount('size=8k') !== 0) skip('mounting is not allowed here')
  onTestFinished(() => void spawnSync('umount', [disk]))
  const words = ['load', output, '--to', `duckdb:${join(disk, 'lake.db')}`]
  const full = await runCommand(words)
  expect([full.exit, full.stderr]).toEqual([7, expect.stringContaining('fix: Free space on the disks')])
  mount('remount', 'size=100m')
  expect((await runCommand(words)).exit).toBe(0)
})

test.for(['24', '40'])('a limit of %s open files fails with a fix that raises it', async (limit) => {
  const { exit, stderr } = await runCommand(['verify', output], {}, { shell: `ulimit -n ${limit}` })
  expect([exit, stderr]).toEqual([
    7,
    expect.stringMatching(/^OUTPUT_FAILED: .*too many open files.*\nfix: Raise the limit/),
  ])
})

test('reports a removed working directory', async () => {
  const shell = 'mkdir gone && cd gone && rmdir ../gone'
  const { exit, stderr } = await runCommand(['verify', output], {}, { shell, cwd: tempFolder() })
  expect([exit, stderr]).toEqual([
    2,
    expect.stringMatching(/^USAGE: the working directory no longer exists\nfix: /),
  ])
})
