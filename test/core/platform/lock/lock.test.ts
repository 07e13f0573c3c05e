import { spawn, spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test, vi } from 'vitest'
import { lockOutput, requireLock } from '../../../../src/core/platform/lock/lock.ts'
import { tempFolder } from '../../../helpers/temp-folder.ts'

/** Id of a process that has ended. */
function deadPid(): number {
  return spawnSync(process.execPath, ['--version']).pid
}

function leaveLock(folder: string, holder: object): void {
  const left = { pid: process.pid, host: hostname(), startedAt: '2024-05-06T07:08:09.000Z', ticks: null }
  writeFileSync(join(folder, 'lock'), JSON.stringify({ ...left, ...holder }))
}

test('refuses a second run and names the holder of the output', async () => {
  const folder = join(tempFolder(), 'new', 'folder')
  const release = await lockOutput(folder)
  await expect(lockOutput(folder)).rejects.toMatchObject({
    code: 'OUTPUT_LOCKED',
    failure: { exit: 8 },
    message: expect.stringMatching(new RegExp(`^process ${process.pid} on .+ since \\d{4}-`)),
  })
  await release()
})

test('a released output can be locked again and contains no lock files', async () => {
  const folder = tempFolder()
  for (let turn = 0; turn < 2; turn += 1) {
    const release = await lockOutput(folder)
    expect(readdirSync(folder)).toEqual(['lock'])
    await release()
    expect(readdirSync(folder)).toEqual([])
  }
})

test.for([
  { whose: 'an ended process', holder: () => ({ pid: deadPid() }) },
  { whose: 'an earlier process with the same id', holder: () => ({ ticks: '1' }) },
  { whose: 'an invalid process id', holder: () => ({ pid: 0 }) },
])('takes over the lock of $whose', async ({ holder }) => {
  const folder = tempFolder()
  leaveLock(folder, holder())
  const release = await lockOutput(folder)
  expect(JSON.parse(readFileSync(join(folder, 'lock'), 'utf8'))).toMatchObject({ pid: process.pid })
  expect(readdirSync(folder)).toEqual(['lock'])
  await release()
})

test('takes over a lock that cannot be parsed', async () => {
  const folder = tempFolder()
  writeFileSync(join(folder, 'lock'), '{"pid":')
  await (await lockOutput(folder))()
  expect(existsSync(join(folder, 'lock'))).toBe(false)
})

test('a holder on another host counts as alive', async () => {
  const folder = tempFolder()
  leaveLock(folder, { pid: deadPid(), host: 'elsewhere' })
  await expect(lockOutput(folder)).rejects.toThrow(/on elsewhere has been exporting here since 2024-05-06T07/)
})

test.for([{ before: 'no lock' }, { before: 'an expired lock' }])(
  'exactly one of two concurrent processes gets the lock, starting with $before',
  async ({ before }) => {
    for (let turn = 0; turn < 20; turn += 1) {
      const folder = tempFolder()
      if (before === 'an expired lock') leaveLock(folder, { ticks: '1' })
      const attempts = await Promise.allSettled([lockOutput(folder), lockOutput(folder)])
      const won = attempts.filter(({ status }) => status === 'fulfilled')
      const lost = attempts.find(({ status }) => status === 'rejected') as PromiseRejectedResult
      expect(won).toHaveLength(1)
      expect(lost.reason).toMatchObject({ code: 'OUTPUT_LOCKED' })
    }
  },
)

test('exactly one of five staggered processes takes over an expired lock', async () => {
  for (let turn = 0; turn < 30; turn += 1) {
    const folder = tempFolder()
    leaveLock(folder, { ticks: '1' })
    const attempts = await Promise.allSettled(
      [0, 2, 4, 6, 8].map(async (steps) => {
        for (let step = 0; step < steps; step += 1) await new Promise(setImmediate)
        return lockOutput(folder)
      }),
    )
    expect(attempts.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
    expect(readdirSync(folder)).toEqual(['lock'])
  }
})

test('ignores the claim of a process that has ended', async () => {
  const folder = tempFolder()
  leaveLock(folder, { ticks: '1' })
  const dead = readFileSync(join(folder, 'lock'), 'utf8')
  const id = createHash('sha256').update(dead).digest('hex').slice(0, 16)
  writeFileSync(join(folder, `lock.${id}.0.claim`), dead)
  const release = await lockOutput(folder)
  expect(readdirSync(folder)).toEqual(['lock'])
  await release()
})

test('removes lock files of ended processes and keeps those of running ones', async () => {
  const folder = tempFolder()
  const running = `lock.${process.pid}.abc.new`
  const claim = `lock.${'0'.repeat(16)}.3.claim`
  const made = [`lock.${deadPid()}.0a1b.new`, claim, `${claim}.${deadPid()}.0a1b.new`]
  for (const name of [...made, running, 'lock.txt']) writeFileSync(join(folder, name), '')
  await lockOutput(folder)
  expect(readdirSync(folder).sort()).toEqual(['lock', running, 'lock.txt'])
})

test.runIf(existsSync('/proc/self/stat'))('a zombie counts as dead', async () => {
  const parent = spawn('sh', ['-c', 'sleep 60 & echo $!; exec sleep 60'])
  onTestFinished(() => void parent.kill())
  const [pid = 0] = (await once(parent.stdout, 'data')).map(Number)
  await expect.poll(() => readFileSync(`/proc/${parent.pid}/comm`, 'utf8')).toBe('sleep\n')
  process.kill(pid)
  const stat = () => readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1] ?? ''
  await expect.poll(stat).toMatch(/^Z/)
  const folder = tempFolder()
  leaveLock(folder, { pid, ticks: stat().split(' ')[19] })
  await (await lockOutput(folder))()
})

test('a release does not remove the lock of another process', async () => {
  const folder = tempFolder()
  const release = await lockOutput(folder)
  leaveLock(folder, { pid: 1 })
  await release()
  expect(existsSync(join(folder, 'lock'))).toBe(true)
})

test.runIf(existsSync('/proc/self'))(
  'fails inside a folder that does not allow new entries instead of retrying forever',
  async () => {
    await expect(lockOutput('/proc/walletlake/out')).rejects.toMatchObject({ code: 'OUTPUT_FAILED' })
  },
)

test('creates the parent folders of the output and fails if one of them is a file', async () => {
  const folder = join(tempFolder(), 'a', 'b', 'c')
  const release = await lockOutput(folder)
  await release()
  writeFileSync(join(folder, 'file'), '')
  await expect(lockOutput(join(folder, 'file', 'out'))).rejects.toMatchObject({ code: 'OUTPUT_FAILED' })
})

/** Leaves a lock of another container with the same host name, last renewed this many seconds ago. */
function leaveRenewed(folder: string, secondsAgo: number, holder: object = {}): void {
  leaveLock(folder, { pid: process.pid, machine: 'another kernel pid:[1]', ...holder })
  const at = Date.now() / 1000 - secondsAgo
  utimesSync(join(folder, 'lock'), at, at)
}

test('refuses a container with the same host name while the other one renews its lock', async () => {
  const folder = tempFolder()
  // No process in this container has this id.
  leaveRenewed(folder, 30, { pid: deadPid() })
  await expect(lockOutput(folder)).rejects.toMatchObject({
    code: 'OUTPUT_LOCKED',
    message: expect.stringContaining(join(folder, 'lock')),
    fix: expect.stringContaining('expires 60 seconds after'),
  })
})

test.for([
  { whose: 'a container with the same host name', secondsAgo: 61, holder: {} },
  { whose: 'another host', secondsAgo: 61, holder: { host: 'elsewhere' } },
  { whose: 'a container whose clock was ahead', secondsAgo: -3_600, holder: {} },
  { whose: 'a container that cannot name its kernel', secondsAgo: 61, holder: { machine: null } },
])('takes over the expired lock of $whose', async ({ secondsAgo, holder }) => {
  const folder = tempFolder()
  // The id happens to be that of a running process.
  leaveRenewed(folder, secondsAgo, holder)
  const release = await lockOutput(folder)
  expect(readdirSync(folder)).toEqual(['lock'])
  await release()
})

test('renews a lock without changing its content', async () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
  onTestFinished(() => void vi.useRealTimers())
  const folder = tempFolder()
  const path = join(folder, 'lock')
  const release = await lockOutput(folder)
  const before = readFileSync(path, 'utf8')
  utimesSync(path, 1, 1)
  vi.advanceTimersByTime(20_000)
  await expect.poll(() => statSync(path).mtimeMs).toBeGreaterThan(1_000)
  expect(readFileSync(path, 'utf8')).toBe(before)
  await release()
})

test('requireLock fails if the lock was taken over while the process was suspended', async () => {
  const folder = tempFolder()
  const release = await lockOutput(folder)
  await requireLock(folder)
  leaveLock(folder, { host: 'elsewhere' })
  await expect(requireLock(folder)).rejects.toMatchObject({
    code: 'OUTPUT_LOCKED',
    message: expect.stringContaining(join(folder, 'lock')),
  })
  await release()
  await requireLock(folder)
})

test.for(['lock', '.'])('does not follow a symbolic link in place of %s', async (name) => {
  const above = tempFolder()
  const folder = join(above, '.walletlake')
  mkdirSync(join(above, 'canary'))
  if (name === 'lock') mkdirSync(folder)
  symlinkSync(join(above, 'canary'), join(folder, name === 'lock' ? 'lock' : ''))
  await expect(lockOutput(folder)).rejects.toMatchObject({
    code: 'OUTPUT_FAILED',
    message: expect.stringContaining('is a symbolic link'),
  })
  expect(readdirSync(join(above, 'canary'))).toEqual([])
})

test('the lock and its folder are accessible only to their owner', async () => {
  const folder = join(tempFolder(), 'private')
  mkdirSync(folder, { mode: 0o755 })
  const release = await lockOutput(folder)
  expect([statSync(folder).mode & 0o777, statSync(join(folder, 'lock')).mode & 0o777]).toEqual([0o700, 0o600])
  await release()
})
