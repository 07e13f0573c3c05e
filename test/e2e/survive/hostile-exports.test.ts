import { cpSync, mkdirSync, readFileSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, expect, test } from 'vitest'
import type { Manifest } from '../../../src/core/model/manifest.ts'
import { runCommand } from '../../helpers/command.ts'
import { exportDemo } from '../../helpers/demo-export.ts'
import { folderTree } from '../../helpers/folder-tree.ts'
import { HOSTILE_PATHS } from '../../helpers/hostile-paths.ts'
import { makeNamedPipe } from '../../helpers/named-pipe.ts'
import { demoWallets } from '../../helpers/node-data.ts'
import { startObjectStore } from '../../helpers/object-store.ts'
import { suiteFolder, tempFolder } from '../../helpers/temp-folder.ts'
import { testSample } from '../../helpers/test-sample.ts'

const good = join(suiteFolder(), 'good')
const addresses = demoWallets.slice(0, 2)

beforeAll(() => exportDemo(good, { addresses }))

/** Every command that opens an export; `job` is a job file with that output. */
const COMMANDS: Record<string, (output: string, job: string) => string[]> = {
  status: (output) => ['status', output],
  'status of a job': (_, job) => ['status', job],
  verify: (output) => ['verify', output],
  balances: (output) => ['balances', output],
  query: (output) => ['query', output, 'select count(*) from ledger'],
  load: (output) => ['load', output, '--to', `sqlite:${output}.db`],
  report: (output) => ['report', output],
  compact: (output) => ['compact', output],
  audit: (output) => ['audit', output, '--base-url', 'http://127.0.0.1:9'],
  convert: (output) => ['convert', output, '--to', 'generic', '--out', `${output}.csv`],
  reindex: (output) => ['reindex', output, '--base-url', 'http://127.0.0.1:9', '--dry-run'],
  run: (_, job) => ['run', job],
  plan: (_, job) => ['plan', job],
}

/** Copies the export next to a folder that no command may access, and writes a job for it. */
function copyOfExport() {
  const folder = tempFolder()
  const output = join(folder, 'output')
  cpSync(good, output, { recursive: true })
  mkdirSync(join(folder, 'canary'))
  writeFileSync(join(folder, 'canary', 'file.csv'), 'a secret')
  const job = join(folder, 'job.json')
  const service = { baseUrl: 'http://127.0.0.1:9' }
  writeFileSync(job, JSON.stringify({ chain: 43114, endBlock: 421, addresses, output, service }))
  return { folder, output, job }
}

/** Replaces the path of the ledger's file in the manifest. */
function list(output: string, path: string): void {
  const manifest = JSON.parse(readFileSync(join(output, 'manifest.json'), 'utf8')) as Manifest
  const [file] = manifest.tables.ledger?.files ?? []
  if (file !== undefined) file.path = path
  writeFileSync(join(output, 'manifest.json'), JSON.stringify(manifest))
}

test.for(Object.keys(COMMANDS))(
  '%s does not read or write paths that lead out of an export',
  async (name) => {
    for (const path of samplePaths(name)) {
      const { folder, output, job } = copyOfExport()
      list(output, path)
      // A run writes its report, which contains the failure.
      const before = folderTree(folder)
      const { exit, stdout, stderr } = await runCommand(COMMANDS[name]?.(output, job) ?? [])
      rmSync(join(output, 'runs'), { recursive: true, force: true })
      expect([path, exit]).toEqual([path, 10])
      expect(stdout + stderr).toContain('tables.ledger.files[0].path')
      expect(stdout + stderr).not.toContain('a secret')
      expect([path, folderTree(folder)]).toEqual([
        path,
        before.filter((one) => !one.startsWith('output/runs')),
      ])
    }
  },
)

/** All paths for one command, and a share of them for each other command, because all use the same schema. */
function samplePaths(name: string): readonly string[] {
  const turn = Object.keys(COMMANDS).indexOf(name)
  return name === 'status' ? HOSTILE_PATHS : HOSTILE_PATHS.filter((_, at) => at % 6 === turn % 6)
}

/** Entries of an export and their replacements: a pipe, or a link to this target. */
const SPECIAL: readonly (readonly [entry: string, target: string | undefined])[] = [
  ['manifest.json', undefined],
  ['manifest.json', '../good.json'],
  ['ledger', '../canary'],
  ['runs', '../canary'],
  ['.walletlake', '../canary'],
  ['.walletlake/pages.log', undefined],
  ['.walletlake/lock', '../canary/file.csv'],
  ['rejects.ndjson', 'nothing'],
]

test.for(Object.keys(COMMANDS))(
  '%s follows no links and does not block on pipes in an export',
  async (name) => {
    const withoutReports = (lines: string[]) => lines.filter((line) => !line.startsWith('output/runs/'))
    for (const [entry, target] of SPECIAL) {
      const { folder, output, job } = copyOfExport()
      cpSync(join(output, 'manifest.json'), join(folder, 'good.json'))
      mkdirSync(join(output, '.walletlake'), { recursive: true })
      rmSync(join(output, entry), { recursive: true, force: true })
      if (target === undefined) makeNamedPipe(join(output, entry))
      else symlinkSync(target, join(output, entry))
      const before = folderTree(folder)
      const { exit, stdout, stderr } = await runCommand(COMMANDS[name]?.(output, job) ?? [])
      expect([entry, exit]).toEqual([entry, name === 'run' ? 7 : 10])
      expect(stdout + stderr).toContain(join(output, entry))
      expect(withoutReports(folderTree(folder))).toEqual(withoutReports(before))
    }
  },
)

test('an output may itself be a symbolic link', async () => {
  const { folder, output } = copyOfExport()
  renameSync(output, join(folder, 'elsewhere'))
  symlinkSync('elsewhere', output)
  expect((await runCommand(['verify', output])).exit).toBe(0)
})

test('a run with --fresh replaces a manifest with hostile paths', { tags: ['long'] }, async () => {
  const { folder, output, job } = copyOfExport()
  list(output, '../canary/file.csv')
  const { exit } = await runCommand(['run', job, '--fresh', '--base-url', 'demo'])
  expect(exit).toBe(0)
  expect((await runCommand(['verify', output])).exit).toBe(0)
  expect(readFileSync(join(folder, 'canary', 'file.csv'), 'utf8')).toBe('a secret')
})

testSample(
  1,
  ['status', 'verify', 'query', 'convert'],
  '%s of a bucket writes nothing outside its local copy',
  async (name) => {
    const { endpoint, objects } = await startObjectStore()
    const folder = tempFolder()
    for (const [path, text] of filesOf(good)) objects.set(`mine/${path}`, text)
    for (const key of [
      'runs/../../20240506T070809Z-abcdef.json',
      'runs//etc/x.json',
      'runs/..\\x.json',
      '../x',
    ])
      objects.set(`mine/${key}`, Buffer.from('{}'))
    const env = {
      AWS_ENDPOINT_URL_S3: endpoint,
      WALLETLAKE_STATE_DIR: join(folder, 'state'),
      TMPDIR: join(folder, 'tmp'),
    }
    mkdirSync(env.TMPDIR)
    const words = COMMANDS[name]?.('s3://lake/mine', '') ?? []
    const out = words.map((word) => (word.endsWith('.csv') ? join(folder, 'out.csv') : word))
    expect((await runCommand(out, env)).exit).toBe(0)
    const written = folderTree(folder).filter((path) => /abcdef|x\.json/.test(path))
    expect(written).toEqual([])
    const hostile = JSON.parse(String(objects.get('mine/manifest.json'))) as Manifest
    for (const file of hostile.tables.ledger?.files ?? []) file.path = '../../canary.csv'
    objects.set('mine/manifest.json', Buffer.from(JSON.stringify(hostile)))
    objects.set('canary.csv', Buffer.from('planted'))
    expect((await runCommand(out, env)).exit).toBe(10)
    expect(folderTree(folder).filter((path) => path.includes('canary'))).toEqual([])
  },
)

function filesOf(folder: string): [string, Buffer][] {
  return folderTree(folder).flatMap((line) => {
    const [path = '', kind] = line.split(' ')
    return kind === 'file' && !path.startsWith('.walletlake')
      ? [[path, readFileSync(join(folder, path))]]
      : []
  })
}
