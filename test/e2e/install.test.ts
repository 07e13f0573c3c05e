// @module-tag long

import { execFileSync, spawnSync } from 'node:child_process'
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { beforeAll, describe, expect, test } from 'vitest'
import { demoWallets } from '../helpers/node-data.ts'
import { isMissing } from '../helpers/programs.ts'
import { readManifest } from '../helpers/read-output.ts'
import { suiteFolder, tempFolder } from '../helpers/temp-folder.ts'

const ROOT = join(import.meta.dirname, '..', '..')
const SCRIPT = join(ROOT, 'jobs', 'schedule', 'install.sh')
const packageJson = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as Record<string, object>

const suite = suiteFolder()
const tarball = join(suite, 'walletlake-0.1.0.tgz')

/** Packs this checkout without dependencies, which npm would download; they are found in a parent folder instead. */
beforeAll(() => {
  const copy = join(suite, 'copy')
  for (const path of ['dist', 'jobs', 'src/demo-server/chains'])
    cpSync(join(ROOT, path), join(copy, path), { recursive: true })
  const { dependencies: _, devDependencies: __, scripts: ___, ...rest } = packageJson
  writeFileSync(join(copy, 'package.json'), JSON.stringify(rest))
  execFileSync('npm', ['pack', '--silent', '--pack-destination', suite], { cwd: copy })
  symlinkSync(join(ROOT, 'node_modules'), join(suite, 'node_modules'))
})

/** Programs, first in PATH, that only record calls that need root. */
const rootsPrograms = join(suite, 'programs')
mkdirSync(rootsPrograms)
for (const name of ['useradd', 'chown', 'systemctl'])
  writeFileSync(join(rootsPrograms, name), `#!/bin/sh\necho ${name} >&2\nexit 1\n`, { mode: 0o755 })

type Installing = { files: string[]; root: string; path?: string; cwd?: string }

/** Runs the script with a folder in place of the root directory. */
function install({ files, root, path = `${rootsPrograms}:${process.env.PATH}`, cwd = suite }: Installing) {
  const env = { PATH: path, HOME: suite, npm_config_offline: 'true', npm_config_cache: join(suite, 'cache') }
  return spawnSync('/bin/sh', [SCRIPT, ...files], { cwd, env: { ...env, DESTDIR: root }, encoding: 'utf8' })
}

const job = join(suite, 'our treasury.yaml')
const wallets = `addresses: ["${demoWallets[0]}"]`
writeFileSync(job, `name: mine\nchain: 43114\n${wallets}\nendBlock: 421\nservice: { baseUrl: demo }\n`)

const modeOf = (path: string) => (statSync(path).mode & 0o777).toString(8)

describe('install.sh', () => {
  /** Inside the suite's folder, so that the program finds its dependencies. */
  const root = join(suite, 'root')
  const settings = join(root, 'etc/walletlake')
  let first: ReturnType<typeof install>
  beforeAll(() => {
    first = install({ root, files: [tarball, job] })
  })

  test('installs program, job, key and units without needing root', () => {
    expect(first).toMatchObject({ status: 0, stderr: '' })
    expect(first.stdout).toContain(
      `walletlake ${packageJson.version} is installed in ${root}/opt/walletlake.`,
    )
    expect(readdirSync(join(settings, 'jobs'))).toEqual(['our treasury.yaml'])
    const modes = ['', 'key', 'environment'].map((name) => modeOf(join(settings, name)))
    expect([...modes, modeOf(join(root, 'var/lib/walletlake'))]).toEqual(['750', '600', '600', '750'])
    for (const unit of ['walletlake.service', 'walletlake-failed.service', 'walletlake.timer'])
      expect(readFileSync(join(root, 'etc/systemd/system', unit))).toEqual(
        readFileSync(join(dirname(SCRIPT), unit)),
      )
  })

  test('creates everything that the service needs: its command exports the jobs', () => {
    writeFileSync(join(settings, 'key'), 'a key\n')
    const moved = (text: string) => text.replace(/\/(?=(opt|etc|var)\/)/g, `${root}/`)
    const unit = moved(readFileSync(join(root, 'etc/systemd/system/walletlake.service'), 'utf8'))
    const [command = '', cwd = '', variables = ''] = ['ExecStart', 'WorkingDirectory', 'EnvironmentFile'].map(
      (key) => new RegExp(`^${key}=(.*)$`, 'm').exec(unit)?.[1],
    )
    const given = moved(readFileSync(variables, 'utf8')).match(/^\w+=.*$/gm) ?? []
    expect(given).toEqual([`WALLETLAKE_API_KEY_FILE=${settings}/key`])
    const env = Object.fromEntries(given.map((line) => line.split('='))) as Record<string, string>
    const ran = spawnSync('/bin/sh', ['-c', command], { cwd, env: { PATH: process.env.PATH, ...env } })
    expect(ran.status).toBe(0)
    expect(readManifest(join(cwd, 'output/mine')).coverage).toHaveLength(1)
    expect(existsSync(join(cwd, 'walletlake.prom'))).toBe(true)
  })

  test('keeps jobs, key and environment if it runs again', { tags: ['long'] }, () => {
    const settingsFiles = ['jobs/our treasury.yaml', 'key', 'environment'].map((name) => join(settings, name))
    for (const path of settingsFiles) writeFileSync(path, 'mine now\n')
    const again = install({ root, files: [tarball, job] })
    expect(again).toMatchObject({ status: 0, stderr: '' })
    expect(again.stdout).toContain(`kept ${settings}/jobs/our treasury.yaml`)
    expect(settingsFiles.map((path) => readFileSync(path, 'utf8'))).toEqual(
      settingsFiles.map(() => 'mine now\n'),
    )
  })

  test.for([
    { when: 'there is no tarball', files: [], says: 'found no tarball' },
    { when: 'a file does not exist', files: ['nope.tgz'], says: 'found no file nope.tgz' },
    { when: 'the first file is a job', files: ['job.yaml'], says: 'found job.yaml, expected a tarball' },
    { when: 'a job is not YAML', files: ['a.tgz', 'job.txt'], says: 'found job.txt, expected a job' },
  ])('writes nothing when $when', ({ files, says }) => {
    const cwd = tempFolder()
    for (const name of ['a.tgz', 'job.yaml', 'job.txt']) writeFileSync(join(cwd, name), '')
    const ran = install({ root: join(cwd, 'root'), files, cwd })
    expect(ran).toMatchObject({
      status: 2,
      stderr: expect.stringMatching(`^install.sh: ${says}.*\nfix: .+\n$`),
    })
    expect(existsSync(join(cwd, 'root'))).toBe(false)
  })

  test('rejects a Node version that the package does not support', () => {
    const folder = tempFolder()
    const { node } = packageJson.engines as { node: string }
    const [, major = '', minor = ''] = /^>=(\d+)\.(\d+)$/.exec(node) ?? []
    const older = `#!/bin/sh\n[ "$1" = --version ] && echo v${major}.${Number(minor) - 1}.0 && exit\n`
    const versionStub = `exec '${process.execPath}' -e "Object.defineProperty(process.versions, 'node', { value: '${major}.${Number(minor) - 1}.0' }); $2"\n`
    writeFileSync(join(folder, 'node'), older + versionStub, { mode: 0o755 })
    writeFileSync(join(folder, 'npm'), '#!/bin/sh\n', { mode: 0o755 })
    const ran = install({ root: folder, files: [tarball], path: `${folder}:/usr/bin:/bin` })
    const says = `found Node v${major}.${Number(minor) - 1}.0, expected ${major}.${minor} or later`
    expect(ran).toMatchObject({ status: 2, stderr: expect.stringContaining(says) })
  })

  test('needs root to change the real system', () => {
    chmodSync(suite, 0o755)
    const nobody = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {}
    const ran = spawnSync('/bin/sh', ['-s', tarball], {
      ...nobody,
      input: readFileSync(SCRIPT),
      env: { PATH: process.env.PATH },
      encoding: 'utf8',
    })
    expect(ran).toMatchObject({ status: 2, stderr: expect.stringContaining('this needs root') })
  })

  test.skipIf(isMissing('shellcheck'))('passes shellcheck', () => {
    expect(spawnSync('shellcheck', [SCRIPT], { encoding: 'utf8' })).toMatchObject({ status: 0, stdout: '' })
  })
})

describe('install.md', () => {
  const page = readFileSync(join(dirname(SCRIPT), 'install.md'), 'utf8')

  test('lists every file and folder that the script creates', () => {
    const made = ['/opt/walletlake', '/etc/walletlake/jobs', '/etc/walletlake/key', '/var/lib/walletlake']
    for (const path of [...made, '/etc/walletlake/environment', '/etc/systemd/system/walletlake.service'])
      expect(page).toContain(`\`${path}`)
  })

  test('requires the Node version of the package', () => {
    const { node } = packageJson.engines as { node: string }
    expect(page).toContain(`Node ${node.replace('>=', '')} or later`)
  })

  test('uses the tarball name that npm pack creates', () => {
    expect(page).toContain(`walletlake-${packageJson.version}.tgz`)
  })
})
