import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { makeScratch } from '../../src/core/scratch-folder.ts'
import { tempFolder } from '../helpers/temp-folder.ts'

/** The number of a process that has ended. */
const deadPid = () => spawnSync(process.execPath, ['-e', '']).pid

function leave(under: string, name: string, holder: object | undefined): string {
  const folder = join(under, name)
  mkdirSync(join(folder, 'spill'), { recursive: true })
  if (holder !== undefined) writeFileSync(join(folder, 'holder'), JSON.stringify(holder))
  return folder
}

const holderOf = (pid: number, host = hostname()) => ({
  pid,
  host,
  startedAt: '2026-01-01T00:00:00Z',
  ticks: null,
})

test('the folder of a killed process goes when the next one is made', async () => {
  const under = tempFolder()
  const left = leave(under, 'walletlake-load-dead', holderOf(deadPid()))
  const made = await makeScratch('load', under)
  expect(existsSync(left)).toBe(false)
  expect(readdirSync(under)).toEqual([made.slice(under.length + 1)])
})

test.for([
  { whose: 'a living process', name: 'walletlake-load-alive', holder: holderOf(process.pid) },
  { whose: 'a process of another host', name: 'walletlake-load-far', holder: holderOf(1, 'elsewhere') },
  { whose: 'nobody that is known', name: 'walletlake-load-old', holder: undefined },
  { whose: 'another use', name: 'walletlake-verify-dead', holder: holderOf(2 ** 22 - 3) },
])('the folder of $whose stays', async ({ name, holder }) => {
  const under = tempFolder()
  const left = leave(under, name, holder)
  await makeScratch('load', under)
  expect(existsSync(join(left, 'spill'))).toBe(true)
})

test('two of one process stand side by side', async () => {
  const under = tempFolder()
  const made = [await makeScratch('load', under), await makeScratch('load', under)]
  expect(made.map((folder) => existsSync(folder))).toEqual([true, true])
})

test('a folder whose process was killed before it could say so goes', async () => {
  const under = tempFolder()
  mkdirSync(join(under, 'walletlake-load-empty'))
  const made = await makeScratch('load', under)
  expect(readdirSync(under)).toEqual([made.slice(under.length + 1)])
})

test('many that are made at once all have a folder', async () => {
  const under = tempFolder()
  const made = await Promise.all(Array.from({ length: 50 }, () => makeScratch('load', under)))
  expect(new Set(made).size).toBe(50)
  expect(made.every((folder) => existsSync(join(folder, 'holder')))).toBe(true)
})
