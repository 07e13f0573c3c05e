import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, utimesSync } from 'node:fs'
import { hostname } from 'node:os'
import { basename, join } from 'node:path'
import { expect, test } from 'vitest'
import { processTag } from '../../../src/core/platform/lock/holder.ts'
import { createScratchFolder } from '../../../src/core/platform/scratch-folder.ts'
import { tempFolder } from '../../helpers/temp-folder.ts'

/** The number of a process that has ended. */
const deadPid = () => spawnSync(process.execPath, ['-e', '']).pid

const { machine: thisMachine } = await processTag()

/** A folder as a process of that number would have left it. */
function leave(
  under: string,
  { use = 'load', host = hostname(), machine = thisMachine, pid = deadPid(), ticks = '0' },
): string {
  const folder = join(
    under,
    `walletlake-${use}-${encodeURIComponent(host)}-${machine}-${pid}-${ticks}-aB3xYz`,
  )
  mkdirSync(join(folder, 'spill'), { recursive: true })
  return folder
}

test('the folder of a killed process goes when the next one is made', async () => {
  const under = tempFolder()
  leave(under, {})
  leave(under, { pid: process.pid, ticks: '1' })
  const made = await createScratchFolder('load', under)
  expect(readdirSync(under)).toEqual([basename(made)])
})

test.for([
  { whose: 'a living process', left: { pid: process.pid } },
  { whose: 'a process of another host', left: { host: 'else-where/1' } },
  { whose: 'a container of the same host name', left: { machine: '0123abcd' } },
  { whose: 'another use', left: { use: 'verify' } },
])('the folder of $whose stays', async ({ left }) => {
  const under = tempFolder()
  const folder = leave(under, left)
  await createScratchFolder('load', under)
  expect(existsSync(join(folder, 'spill'))).toBe(true)
})

test('the folder of a container of the same host name goes after a week', async () => {
  const under = tempFolder()
  const folder = leave(under, { machine: '0123abcd' })
  const longAgo = Date.now() / 1000 - 8 * 86_400
  utimesSync(folder, longAgo, longAgo)
  await createScratchFolder('load', under)
  expect(existsSync(folder)).toBe(false)
})

test('a temporary folder that cannot be used is named, with TMPDIR', async () => {
  const missing = join(tempFolder(), 'missing')
  await expect(createScratchFolder('load', missing)).rejects.toMatchObject({
    code: 'OUTPUT_FAILED',
    message: `cannot use the temporary folder ${missing}: ENOENT`,
    fix: expect.stringContaining('Set TMPDIR'),
  })
})

test.for(['walletlake-load-mine', 'walletlake-load-a-b-c-d', 'walletlake-load-1-0-aB3xYz'])(
  'a folder %s that no process made stays',
  async (name) => {
    const under = tempFolder()
    mkdirSync(join(under, name))
    await createScratchFolder('load', under)
    expect(existsSync(join(under, name))).toBe(true)
  },
)

test('many that are made at once all have a folder, which outlives the next', async () => {
  const under = tempFolder()
  const made = await Promise.all(Array.from({ length: 50 }, () => createScratchFolder('load', under)))
  expect(new Set(made).size).toBe(50)
  await createScratchFolder('load', under)
  expect(made.every((folder) => existsSync(folder))).toBe(true)
})
