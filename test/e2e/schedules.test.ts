import { execFileSync, spawnSync } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DuckDBInstance } from '@duckdb/node-api'
import { describe, expect, test } from 'vitest'
import { parseAllDocuments } from 'yaml'
import { FAILURES } from '../../src/core/model/errors.ts'
import { durationMs } from '../../src/job/fields/field-types.ts'
import { runCommand } from '../helpers/command.ts'
import { demoWallets } from '../helpers/node-data.ts'
import { isMissing } from '../helpers/programs.ts'
import { readManifest } from '../helpers/read-output.ts'
import { tempFolder } from '../helpers/temp-folder.ts'

const ROOT = join(import.meta.dirname, '..', '..')
const FOLDER = join(ROOT, 'jobs', 'schedule')
const textOf = (name: string) => readFileSync(join(FOLDER, name), 'utf8')

/** Exit codes after which the same command would fail again, and those after which it resumes. */
const FINAL = [1, 2, 3, 4, 6, 10]
const RESUMABLE = [5, 7, 8, 9, 130, 143]

/** Creates a working directory with a small job in jobs/mine.yaml. */
function workplace(): string {
  const folder = tempFolder()
  mkdirSync(join(folder, 'jobs'))
  writeFileSync(join(folder, 'jobs/mine.yaml'), job('mine'))
  return folder
}

/** A job with one wallet of the demo chain. */
const job = (name: string) =>
  `name: ${name}\nchain: 43114\naddresses: ["${demoWallets[48]}"]\nendBlock: 421\nservice: { baseUrl: demo }\n`

/** Creates a folder that looks like the root of a system prepared by install.sh. */
function machineRoot(jobs: Record<string, string>): string {
  const root = tempFolder()
  for (const folder of ['opt/walletlake/lib/node_modules', 'etc/walletlake/jobs', 'var/lib/walletlake'])
    mkdirSync(join(root, folder), { recursive: true })
  symlinkSync(ROOT, join(root, 'opt/walletlake/lib/node_modules/walletlake'))
  writeFileSync(join(root, 'etc/walletlake/key'), 'a key\n', { mode: 0o600 })
  for (const [name, text] of Object.entries(jobs))
    writeFileSync(join(root, 'etc/walletlake/jobs', name), text)
  return root
}

/** Prefixes the absolute paths of a command line with another root. */
const moved = (line: string, root: string) => line.replace(/\/(?=(opt|etc|var)\/)/g, `${root}/`)

/** A folder for PATH in which `walletlake` is the built program and `node` is this Node. */
function programs(): string {
  const folder = tempFolder()
  const bin = `#!/bin/sh\nexec '${process.execPath}' '${join(ROOT, 'dist', 'bin.js')}' "$@"\n`
  writeFileSync(join(folder, 'walletlake'), bin, { mode: 0o755 })
  symlinkSync(process.execPath, join(folder, 'node'))
  return `${folder}:/usr/bin:/bin`
}

/** The jobs whose rows a DuckDB file contains. */
async function loadedIn(file: string): Promise<unknown[]> {
  const instance = await DuckDBInstance.create(file, { access_mode: 'READ_ONLY' })
  const connection = await instance.connect()
  const read = await connection.runAndReadAll('SELECT DISTINCT job FROM walletlake_loads ORDER BY job')
  connection.closeSync()
  instance.closeSync()
  return read.getRows().map(([job]) => job)
}

test('the examples cover every exit code', () => {
  const known = [...FINAL, ...RESUMABLE].sort((a, b) => a - b)
  const all = Object.values(FAILURES).map(({ exit }) => exit)
  expect([...new Set(all)].sort((a, b) => a - b)).toEqual(known)
})

test('every option and deadline in the examples is valid', async () => {
  const { stdout } = await runCommand(['run', '--help'])
  const files = readdirSync(FOLDER, { withFileTypes: true }).filter((entry) => entry.isFile())
  const runs = files.flatMap(({ name }) =>
    textOf(name)
      .split('\n')
      .filter((line) => /(nightly\.sh|mine\.yaml).*--deadline/.test(line)),
  )
  const options = runs.flatMap(
    (line) => line.replace('npm root --global', '').match(/(?<=\s)--[a-z-]+/g) ?? [],
  )
  expect(options.filter((option) => !stdout.includes(option))).toEqual([])
  const deadlines = runs.flatMap((line) => line.match(/(?<=--deadline,? )\w+/) ?? [])
  expect(deadlines).toHaveLength(7)
  expect(deadlines.filter((text) => durationMs(text) === undefined)).toEqual([])
})

test('a glob for jobs does not match the examples', async () => {
  const cwd = workplace()
  cpSync(join(ROOT, 'jobs/examples'), join(cwd, 'jobs/examples'), { recursive: true })
  const { stdout } = await runCommand(['validate', 'jobs/*.yaml'], {}, { cwd })
  expect(stdout.trim().split('\n')).toEqual([expect.stringContaining('mine')])
})

describe('crontab', () => {
  const lines = textOf('crontab')
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'))

  test('exports and loads every job of its folder, even with spaces in its name', async () => {
    const names = ['our treasury.yaml', 'b.yaml', 'c d  e.yaml']
    const root = machineRoot(Object.fromEntries(names.map((name, i) => [name, job(`job-${i}`)])))
    const env = Object.fromEntries(lines.filter((line) => /^\w+=/.test(line)).map((line) => line.split('=')))
    const [, command = ''] = /^(?:\S+ ){5}(.+)$/.exec(lines.at(-1) ?? '') ?? []
    const ran = spawnSync(env.SHELL ?? '', ['-c', moved(command, root)], {
      env: { PATH: programs(), WALLETLAKE_API_KEY_FILE: moved(env.WALLETLAKE_API_KEY_FILE ?? '', root) },
      encoding: 'utf8',
    })
    expect(ran).toMatchObject({ status: 0, stdout: '', stderr: '' })
    const outputs = ['job-0', 'job-1', 'job-2'].map((name) => join(root, 'var/lib/walletlake/output', name))
    expect(outputs.map((output) => readManifest(output).coverage.length)).toEqual([1, 1, 1])
    expect(await loadedIn(join(root, 'var/lib/walletlake/output/lake.db'))).toEqual([
      'job-0',
      'job-1',
      'job-2',
    ])
  })

  test('has five time fields and no unescaped percent sign', () => {
    expect(lines.at(-1)).toMatch(/^(\d+|\*)( (\d+|\*)){4} cd /)
    expect(lines.at(-1)).not.toMatch(/(?<!\\)%/)
  })
})

describe('systemd', () => {
  test('exports and loads every job of its folder', { tags: ['long'] }, async () => {
    const root = machineRoot({ 'our treasury.yaml': job('ours'), 'b.yaml': job('theirs') })
    const [, command = ''] = /^ExecStart=(.*)$/m.exec(textOf('walletlake.service')) ?? []
    const cwd = join(root, 'var/lib/walletlake')
    const ran = spawnSync('/bin/sh', ['-c', moved(command, root)], {
      cwd,
      env: { PATH: programs() },
      encoding: 'utf8',
    })
    expect(ran).toMatchObject({ status: 0, stdout: '', stderr: '' })
    expect(await loadedIn(join(cwd, 'output/lake.db'))).toEqual(['ours', 'theirs'])
  })

  const analyze = 'systemd-analyze'

  test('stops with SIGTERM, resumes resumable runs and catches up on missed ones', () => {
    const service = textOf('walletlake.service')
    for (const line of [
      'Type=oneshot',
      'KillSignal=SIGTERM',
      'KillMode=mixed',
      'TimeoutStopSec=90',
      'Restart=on-failure',
      'OnFailure=walletlake-failed.service',
    ])
      expect(service.split('\n')).toContain(line)
    const [, prevented = ''] = /^RestartPreventExitStatus=(.*)$/m.exec(service) ?? []
    expect(prevented.split(' ').map(Number)).toEqual(FINAL)
    expect(textOf('walletlake.timer')).toMatch(/^OnCalendar=.* UTC\n(.*\n)*Persistent=true$/m)
  })

  test.skipIf(isMissing('systemd-analyze'))('has a low exposure score', () => {
    const words = ['security', '--offline=true', '--threshold=25', join(FOLDER, 'walletlake.service')]
    const { status, stdout } = spawnSync(analyze, words, { encoding: 'utf8' })
    expect({ status, stdout: status === 0 ? '' : stdout }).toEqual({ status: 0, stdout: '' })
  })

  test.skipIf(isMissing('systemd-analyze'))('has valid units', () => {
    const folder = tempFolder()
    const service = textOf('walletlake.service').replace('/opt/walletlake/bin/walletlake', process.execPath)
    writeFileSync(join(folder, 'walletlake.service'), service)
    writeFileSync(join(folder, 'walletlake.timer'), textOf('walletlake.timer'))
    writeFileSync(join(folder, 'walletlake-failed.service'), textOf('walletlake-failed.service'))
    const units = ['walletlake.service', 'walletlake-failed.service', 'walletlake.timer'].map((name) =>
      join(folder, name),
    )
    const verdict = spawnSync(analyze, ['verify', ...units], { encoding: 'utf8' })
    expect(verdict).toMatchObject({ status: 0, stderr: '' })
  })
})

const documentsOf = (name: string) =>
  parseAllDocuments(textOf(name)).map((document) => {
    if ('errors' in document && document.errors.length > 0) throw document.errors[0]
    return document.toJS() as unknown
  })

type Step = { uses?: string; run?: string; if?: string; with?: Record<string, string>; env?: object }

describe('GitHub Actions', () => {
  const [workflow] = documentsOf('github-actions.yaml') as {
    concurrency: object
    jobs: { export: { 'timeout-minutes': number; steps: Step[] } }
  }[]
  const steps = workflow?.jobs.export.steps ?? []
  const step = (start: string) => steps.find(({ uses, run }) => (uses ?? run)?.startsWith(start))

  test('runs one job at a time and ends before the time limit of a job', () => {
    expect(workflow?.concurrency).toEqual({ group: 'wallets', 'cancel-in-progress': false })
    const [, deadline = ''] = /--deadline (\w+)/.exec(step('sh ')?.run ?? '') ?? []
    expect(durationMs(deadline)).toBe(330 * 60_000)
    expect(workflow?.jobs.export['timeout-minutes']).toBe(360)
  })

  test('exports, loads and verifies', { tags: ['long'] }, async () => {
    const home = workplace()
    mkdirSync(join(home, 'lib/node_modules'), { recursive: true })
    symlinkSync(ROOT, join(home, 'lib/node_modules/walletlake'))
    const commands = [step('sh ')?.run ?? '', step('walletlake verify')?.run ?? '']
    const script = commands
      .join('\n')

      .replace('npm root --global', 'echo lib/node_modules')
    const ran = spawnSync('bash', ['-e', '-c', script], {
      cwd: home,
      env: { PATH: programs() },
      encoding: 'utf8',
    })
    expect([ran.status, ran.stdout]).toEqual([0, expect.stringMatching(/^output\/mine: OK /m)])
    expect(await loadedIn(join(home, 'output/lake.db'))).toEqual(['mine'])
  })

  test('pins every action to a commit and names its release', () => {
    const used = textOf('github-actions.yaml').match(/uses: .*/g) ?? []
    expect(used).toHaveLength(5)
    expect(used.filter((line) => !/^uses: [\w/-]+@[\da-f]{40} # v\d+\.\d+\.\d+$/.test(line))).toEqual([])
  })

  test('always saves the checkpoint and restores the newest one', () => {
    const [restore, save] = [step('actions/cache/restore'), step('actions/cache/save')]
    expect(save).toMatchObject({ if: 'always()', with: { path: 'output' } })
    expect(restore?.with?.path).toBe(save?.with?.path)
    expect(save?.with?.key?.startsWith(restore?.with?.['restore-keys'] ?? '-')).toBe(true)
  })
})

describe('the GitHub Action', () => {
  const [action] = documentsOf('action/action.yml') as { runs: { steps: (Step & { name?: string })[] } }[]
  const steps = action?.runs.steps ?? []

  test('pins every action to a commit, and saves the checkpoint also after a failure', () => {
    const used = textOf('action/action.yml').match(/uses: .*/g) ?? []
    expect(used).toHaveLength(3)
    expect(used.filter((line) => !/^uses: [\w/-]+@[\da-f]{40} # v\d+\.\d+\.\d+$/.test(line))).toEqual([])
    expect(steps.at(-1)).toMatchObject({ if: 'always()', with: { path: 'output' } })
  })

  test.skipIf(isMissing('shellcheck'))('has scripts that pass shellcheck', { tags: ['long'] }, () => {
    const scripts = steps.flatMap(({ run }) => run ?? [])
    expect(scripts).toHaveLength(2)
    for (const input of scripts) {
      const { stdout } = spawnSync('shellcheck', ['--shell', 'sh', '-'], { input, encoding: 'utf8' })
      expect(stdout).toBe('')
    }
  })

  test('exports, loads, and hands on the exit code', { tags: ['long'] }, async () => {
    const home = workplace()
    const run = (more: object) => {
      const env = {
        PATH: programs(),
        GITHUB_ACTION_PATH: join(FOLDER, 'action'),
        GITHUB_OUTPUT: join(home, 'outputs'),
        JOBS: 'jobs/*.yaml',
        WALLETLAKE_API_KEY: '',
        WALLETLAKE_LOAD_TO: 'duckdb:output/lake.db',
        ...more,
      }
      const script = steps.find(({ name }) => name === 'Run')?.run ?? ''
      return spawnSync('sh', ['-e', '-c', script], { cwd: home, env, encoding: 'utf8' }).status
    }
    expect(run({ ARGUMENTS: '--deadline 330m --quiet' })).toBe(0)
    expect(await loadedIn(join(home, 'output/lake.db'))).toEqual(['mine'])
    expect(run({ ARGUMENTS: '--max-requests 1 --fresh --quiet' })).toBe(9)
    expect(readFileSync(join(home, 'outputs'), 'utf8')).toBe('exit-code=0\nexit-code=9\n')
  })
})

describe('Kubernetes', () => {
  const [claim, cron] = documentsOf('kubernetes.yaml') as {
    kind: string
    metadata: { name: string }
    spec: {
      [field: string]: unknown
      jobTemplate: { spec: Record<string, unknown> & { template: { spec: Pod } } }
    }
  }[]
  type Pod = Record<string, unknown> & { containers: Container[]; volumes: Record<string, unknown>[] }
  type Container = {
    name: string
    command: string[]
    args: string[]
    env: object[]
    volumeMounts: { mountPath: string }[]
  }
  const job = cron?.spec.jobTemplate.spec
  const pod = job?.template.spec

  test('exports and loads to its volume', { tags: ['long'] }, async () => {
    const [container] = pod?.containers ?? []
    const home = workplace()
    const words = [...(container?.command ?? []), ...(container?.args ?? [])].map((word) =>
      word.replace('/app', ROOT),
    )
    expect(container?.env).toContainEqual({ name: 'WALLETLAKE_LOAD_TO', value: 'duckdb:output/lake.db' })
    const env = { PATH: programs(), WALLETLAKE_LOAD_TO: 'duckdb:output/lake.db' }
    const ran = spawnSync(words[0] ?? '', words.slice(1), { cwd: home, env, encoding: 'utf8' })
    expect(ran.status).toBe(0)
    expect(await loadedIn(join(home, 'output/lake.db'))).toEqual(['mine'])
    expect(textOf('Dockerfile')).toContain('COPY jobs/schedule/nightly.sh jobs/schedule/nightly.sh\n')
  })

  test('runs one pod at a time and lets it stop gracefully', () => {
    expect(cron).toMatchObject({
      kind: 'CronJob',
      spec: { concurrencyPolicy: 'Forbid', timeZone: 'Etc/UTC' },
    })
    expect(pod).toMatchObject({
      restartPolicy: 'Never',
      terminationGracePeriodSeconds: 60,
    })
  })

  test('fails permanently only if the same command would fail again', () => {
    const rules = [
      { action: 'FailJob', onExitCodes: { containerName: 'walletlake', operator: 'In', values: FINAL } },
    ]
    expect(job).toMatchObject({ backoffLimit: 6, podFailurePolicy: { rules } })
  })

  test('meets the restricted profile', () => {
    const [container] = pod?.containers ?? []
    expect(pod).toMatchObject({
      automountServiceAccountToken: false,
      securityContext: { runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } },
    })
    expect(container).toMatchObject({
      securityContext: {
        allowPrivilegeEscalation: false,
        readOnlyRootFilesystem: true,
        capabilities: { drop: ['ALL'] },
      },
    })
  })

  test('has its output on a volume and its key in a file', () => {
    const [container] = pod?.containers ?? []
    expect(claim).toMatchObject({ kind: 'PersistentVolumeClaim', metadata: { name: 'walletlake-output' } })
    expect(pod?.volumes).toContainEqual({
      name: 'output',
      persistentVolumeClaim: { claimName: claim?.metadata.name },
    })
    expect(container?.volumeMounts).toContainEqual({ name: 'output', mountPath: '/lake/output' })
    const key = { name: 'WALLETLAKE_API_KEY_FILE', value: '/run/secrets/walletlake/key' }
    expect(container?.env).toContainEqual(key)
    expect(textOf('Dockerfile')).toContain('WORKDIR /lake\n')
  })
})

/** A stub of the Airflow classes that the example uses. It prints the operator's arguments. */
const AIRFLOW = {
  'airflow/__init__.py': '',
  'airflow/sdk.py':
    'class DAG:\n def __init__(self, **given): self.given = given\n def __enter__(self): return self\n def __exit__(self, *_): pass\n',
  'airflow/providers/standard/operators/bash.py':
    'import json\ndef BashOperator(**given): print(json.dumps(given, default=str))\n',
}

describe('Airflow', () => {
  test.skipIf(isMissing('python3'))(
    'runs a command that prints the summary as its last line, and loads',
    { tags: ['long'] },
    async () => {
      const folder = tempFolder()
      for (const [path, text] of Object.entries(AIRFLOW)) {
        mkdirSync(join(folder, path, '..'), { recursive: true })
        writeFileSync(join(folder, path), text)
      }
      const env = { PATH: process.env.PATH, PYTHONPATH: folder, PYTHONDONTWRITEBYTECODE: '1' }
      const printed = execFileSync('python3', [join(FOLDER, 'airflow-dag.py')], { env, encoding: 'utf8' })
      const task = JSON.parse(printed) as Record<string, unknown>
      expect(task).toMatchObject({
        skip_on_exit_code: FAILURES.OUTPUT_LOCKED.exit,
        retries: 6,
        append_env: true,
      })
      const root = machineRoot({})
      const command = moved(`${String(task.bash_command)}`, root)
      const home = workplace()
      const ran = spawnSync('bash', ['-c', `${command} 2>&1`], {
        cwd: home,
        env: { PATH: programs() },
        encoding: 'utf8',
      })
      expect(ran.status).toBe(0)
      const last = ran.stdout.trimEnd().split('\n').at(-1) ?? ''
      expect(JSON.parse(last)).toMatchObject({ exit: 0, jobs: [{ job: 'mine', state: 'complete' }] })
      expect(await loadedIn(join(home, 'output/lake.db'))).toEqual(['mine'])
    },
  )
})

test('the image copies only files of a checkout and does not run as root', () => {
  const dockerfile = textOf('Dockerfile')
  const copied = [...dockerfile.matchAll(/^COPY (?!--from)(.+) \S+$/gm)].flatMap(([, names = '']) =>
    names.split(' '),
  )
  expect(copied.length).toBeGreaterThan(6)
  expect(copied.filter((name) => !existsSync(join(ROOT, name)))).toEqual([])
  const context = textOf('Dockerfile.dockerignore').split('\n')
  expect(copied.filter((name) => !context.includes(`!${name.split('/')[0]}`))).toEqual([])
  for (const line of ['FROM node:20-slim', 'USER node', 'ENTRYPOINT ["node", "/app/dist/bin.js"]'])
    expect(dockerfile.split('\n')).toContain(line)
  expect(dockerfile).toContain('npm ci --omit=dev')
})
