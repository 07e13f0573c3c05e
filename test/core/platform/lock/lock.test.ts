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

/** The process id of a process that has ended. */
function deadPid(): number {
  return spawnSync(process.execPath, ['--version']).pid
}

function leaveLock(folder: string, holder: object): void {
  const left = { pid: process.pid, host: hostname(), startedAt: '2024-05-06T07:08:09.000Z', ticks: null }
  writeFileSync(join(folder, 'lock'), JSON.stringify({ ...left, ...holder }))
}

test('a second run is refused and told who holds the output', async () => {
  const folder = join(tempFolder(), 'new', 'folder')
  const release = await lockOutput(folder)
  await expect(lockOutput(folder)).rejects.toMatchObject({
    code: 'OUTPUT_LOCKED',
    failure: { exit: 8 },
    message: expect.stringMatching(new RegExp(`^process ${process.pid} on .+ since \\d{4}-`)),
  })
  await release()
})

test('a released output can be taken again and holds nothing', async () => {
  const folder = tempFolder()
  for (let turn = 0; turn < 2; turn += 1) {
    const release = await lockOutput(folder)
    expect(readdirSync(folder)).toEqual(['lock'])
    await release()
    expect(readdirSync(folder)).toEqual([])
  }
})

test.for([
  { left: 'a dead process', holder: () => ({ pid: deadPid() }) },
  { left: 'an earlier process of the same number', holder: () => ({ ticks: '1' }) },
  { left: 'no process', holder: () => ({ pid: 0 }) },
])('the lock of $left is taken over', async ({ holder }) => {
  const folder = tempFolder()
  leaveLock(folder, holder())
  const release = await lockOutput(folder)
  expect(JSON.parse(readFileSync(join(folder, 'lock'), 'utf8'))).toMatchObject({ pid: process.pid })
  expect(readdirSync(folder)).toEqual(['lock'])
  await release()
})

test('a lock that cannot be read as one is taken over', async () => {
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

test.for([{ left: 'no lock' }, { left: 'a dead lock' }])(
  'of two takers of $left at once exactly one wins',
  async ({ left }) => {
    for (let turn = 0; turn < 20; turn += 1) {
      const folder = tempFolder()
      if (left === 'a dead lock') leaveLock(folder, { ticks: '1' })
      const takers = await Promise.allSettled([lockOutput(folder), lockOutput(folder)])
      const won = takers.filter(({ status }) => status === 'fulfilled')
      const lost = takers.find(({ status }) => status === 'rejected') as PromiseRejectedResult
      expect(won).toHaveLength(1)
      expect(lost.reason).toMatchObject({ code: 'OUTPUT_LOCKED' })
    }
  },
)

test('of five takers of a dead lock, each a little later, exactly one wins', async () => {
  for (let turn = 0; turn < 30; turn += 1) {
    const folder = tempFolder()
    leaveLock(folder, { ticks: '1' })
    const takers = await Promise.allSettled(
      [0, 2, 4, 6, 8].map(async (steps) => {
        for (let step = 0; step < steps; step += 1) await new Promise(setImmediate)
        return lockOutput(folder)
      }),
    )
    expect(takers.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
    expect(readdirSync(folder)).toEqual(['lock'])
  }
})

test('the claim of a taker that died is passed on to the next', async () => {
  const folder = tempFolder()
  leaveLock(folder, { ticks: '1' })
  const dead = readFileSync(join(folder, 'lock'), 'utf8')
  const id = createHash('sha256').update(dead).digest('hex').slice(0, 16)
  writeFileSync(join(folder, `lock.${id}.0.claim`), dead)
  const release = await lockOutput(folder)
  expect(readdirSync(folder)).toEqual(['lock'])
  await release()
})

test('what dead processes left beside the lock is swept, what living ones make stays', async () => {
  const folder = tempFolder()
  const living = `lock.${process.pid}.abc.new`
  const claim = `lock.${'0'.repeat(16)}.3.claim`
  const made = [`lock.${deadPid()}.0a1b.new`, claim, `${claim}.${deadPid()}.0a1b.new`]
  for (const name of [...made, living, 'lock.txt']) writeFileSync(join(folder, name), '')
  await lockOutput(folder)
  expect(readdirSync(folder).sort()).toEqual(['lock', living, 'lock.txt'])
})

test.runIf(existsSync('/proc/self/stat'))('a zombie counts as dead', async () => {
  const parent = spawn('sh', ['-c', 'sleep 0.01 & echo $!; exec sleep 60'])
  const [pid] = (await once(parent.stdout, 'data')).map(Number)
  const stat = () => readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1] ?? ''
  while (!stat().startsWith('Z')) await new Promise(setImmediate)
  const folder = tempFolder()
  leaveLock(folder, { pid, ticks: stat().split(' ')[19] })
  await (await lockOutput(folder))()
  parent.kill()
})

test('a release leaves the lock of somebody else alone', async () => {
  const folder = tempFolder()
  const release = await lockOutput(folder)
  leaveLock(folder, { pid: 1 })
  await release()
  expect(existsSync(join(folder, 'lock'))).toBe(true)
})

test.runIf(existsSync('/proc/self'))(
  'below a folder that takes none it fails instead of trying for ever',
  async () => {
    await expect(lockOutput('/proc/walletlake/out')).rejects.toMatchObject({ code: 'OUTPUT_FAILED' })
  },
)

test('folders above the output are made, and a file among them is the fault', async () => {
  const folder = join(tempFolder(), 'a', 'b', 'c')
  const release = await lockOutput(folder)
  await release()
  writeFileSync(join(folder, 'file'), '')
  await expect(lockOutput(join(folder, 'file', 'out'))).rejects.toMatchObject({ code: 'OUTPUT_FAILED' })
})

/** Leaves a lock as a container does that has another host's processes, or the same host name, renewed so many seconds ago. */
function leaveRenewed(folder: string, secondsAgo: number, holder: object = {}): void {
  leaveLock(folder, { pid: process.pid, machine: 'another kernel pid:[1]', ...holder })
  const at = Date.now() / 1000 - secondsAgo
  utimesSync(join(folder, 'lock'), at, at)
}

test('a container of the same host name is refused while the other one renews its lock', async () => {
  const folder = tempFolder()
  // In this container no process of that number lives.
  leaveRenewed(folder, 30, { pid: deadPid() })
  await expect(lockOutput(folder)).rejects.toMatchObject({
    code: 'OUTPUT_LOCKED',
    message: expect.stringContaining(join(folder, 'lock')),
    fix: expect.stringContaining('expires 60 seconds after'),
  })
})

test.for([
  { whose: 'a container of the same host name', secondsAgo: 61, holder: {} },
  { whose: 'another host', secondsAgo: 61, holder: { host: 'elsewhere' } },
  { whose: 'a container whose clock was ahead', secondsAgo: -3_600, holder: {} },
  { whose: 'a container that cannot name its kernel', secondsAgo: 61, holder: { machine: null } },
])('the lock of $whose is taken over once it has expired', async ({ secondsAgo, holder }) => {
  const folder = tempFolder()
  // The number is that of a living process, by chance.
  leaveRenewed(folder, secondsAgo, holder)
  const release = await lockOutput(folder)
  expect(readdirSync(folder)).toEqual(['lock'])
  await release()
})

test('a lock is renewed without a change of its content', async () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
  onTestFinished(() => void vi.useRealTimers())
  const folder = tempFolder()
  const path = join(folder, 'lock')
  const release = await lockOutput(folder)
  const before = readFileSync(path, 'utf8')
  utimesSync(path, 1, 1)
  vi.advanceTimersByTime(20_000)
  await vi.waitUntil(() => statSync(path).mtimeMs > 1_000)
  expect(readFileSync(path, 'utf8')).toBe(before)
  await release()
})

test('a process that lost its lock while it was suspended is told so', async () => {
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

test.for(['lock', '.'])('a symbolic link in place of %s is not followed', async (name) => {
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

test('the folder of a lock, and the lock, are for their owner alone', async () => {
  const folder = join(tempFolder(), 'private')
  mkdirSync(folder, { mode: 0o755 })
  const release = await lockOutput(folder)
  expect([statSync(folder).mode & 0o777, statSync(join(folder, 'lock')).mode & 0o777]).toEqual([0o700, 0o600])
  await release()
})
