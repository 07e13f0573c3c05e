import { spawnSync } from 'node:child_process'
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { parse, parseAllDocuments } from 'yaml'
import { freePort } from '../helpers/free-port.ts'
import { noRedis } from '../helpers/start-redis.ts'
import { tempFolder } from '../helpers/temp-folder.ts'

const ROOT = join(import.meta.dirname, '..', '..')
const textOf = (name: string) => readFileSync(join(ROOT, 'jobs', 'schedule', name), 'utf8')
const [, commands = ''] = /```sh\n([\s\S]*?)```/.exec(textOf('CLUSTER.md')) ?? []

/** A folder for PATH that contains walletlake. */
function programsIn(folder: string): string {
  const bin = join(folder, 'bin')
  mkdirSync(bin)
  const program = join(bin, 'walletlake')
  writeFileSync(program, `#!/bin/sh\nexec "${process.execPath}" "${join(ROOT, 'dist', 'bin.js')}" "$@"\n`)
  chmodSync(program, 0o755)
  return bin
}

test('the page starts four workers from scratch in at most ten commands', () => {
  const lines = commands.trim().split('\n')
  expect(lines.length).toBeLessThanOrEqual(10)
  expect(commands).toContain('for machine in 1 2 3 4; do walletlake worker')
})

test.skipIf(noRedis)('every command of the page works, one after the other', { tags: ['long'] }, async () => {
  const folder = tempFolder()
  const [queue, service] = [await freePort(), await freePort()]
  const script = commands.replaceAll('6390', String(queue)).replaceAll('8790', String(service))
  const env = { ...process.env, PATH: `${programsIn(folder)}:${process.env.PATH}` }
  const { status, stdout, stderr } = spawnSync('bash', ['-e', '-c', script], {
    cwd: folder,
    env,
    encoding: 'utf8',
  })
  expect([status, stderr.match(/^[A-Z_]+: .*/m)?.[0]]).toEqual([0, undefined])
  expect(stdout).toMatch(/many: complete in/)
  expect(stdout).toMatch(/^lake: OK /m)
})

test.for(['compose-cluster.yaml', 'kubernetes-cluster.yaml'])(
  '%s starts workers and a run with one queue',
  (name) => {
    const documents = parseAllDocuments(textOf(name))
    expect(documents.flatMap(({ errors }) => errors)).toEqual([])
    const text = JSON.stringify(documents.map((one) => one.toJS() as unknown))
    expect(text).toMatch(/\["worker","--queue","redis:\/\/[\w-]+:6379"/)
    expect(text).toMatch(/\["run","jobs\/mine.yaml","--queue","redis:\/\/[\w-]+:6379"/)
    expect(text).toContain('noeviction')
  },
)

type Pod = { securityContext?: object; automountServiceAccountToken?: boolean; containers?: object[] }

/** All pod templates of a document. */
function podsOf(value: unknown): Pod[] {
  if (typeof value !== 'object' || value === null) return []
  const { containers } = value as Pod
  return containers === undefined ? Object.values(value).flatMap(podsOf) : [value]
}

test('every pod of the cluster meets the restricted profile', () => {
  const pods = parseAllDocuments(textOf('kubernetes-cluster.yaml')).flatMap((one) => podsOf(one.toJS()))
  expect(pods).toHaveLength(3)
  for (const pod of pods) {
    expect(pod).toMatchObject({
      automountServiceAccountToken: false,
      securityContext: { runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } },
    })
    for (const container of pod.containers ?? [])
      expect(container).toMatchObject({
        securityContext: {
          allowPrivilegeEscalation: false,
          readOnlyRootFilesystem: true,
          capabilities: { drop: ['ALL'] },
        },
      })
  }
})

test('containers of the compose file have a read-only root and no capabilities', () => {
  const { services } = parse(textOf('compose-cluster.yaml'), { merge: true }) as {
    services: Record<string, object>
  }
  for (const name of ['queue', 'worker', 'run'])
    expect(services[name]).toMatchObject({
      read_only: true,
      cap_drop: ['ALL'],
      security_opt: ['no-new-privileges:true'],
    })
})
