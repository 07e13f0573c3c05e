import { spawnSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { lockOutput } from '../../src/spool/lock.ts'
import { tempFolder } from '../helpers/temp-folder.ts'

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

test('a release leaves the lock of somebody else alone', async () => {
  const folder = tempFolder()
  const release = await lockOutput(folder)
  leaveLock(folder, { pid: 1 })
  await release()
  expect(existsSync(join(folder, 'lock'))).toBe(true)
})
