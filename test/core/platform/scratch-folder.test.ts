import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, utimesSync } from 'node:fs'
import { hostname } from 'node:os'
import { basename, join } from 'node:path'
import { expect, test } from 'vitest'
import { processTag } from '../../../src/core/platform/lock/holder.ts'
import { createScratchFolder } from '../../../src/core/platform/scratch-folder.ts'
import { tempFolder } from '../../helpers/temp-folder.ts'

/** Id of a process that has ended. */
const deadPid = () => spawnSync(process.execPath, ['-e', '']).pid

const { machine: thisMachine } = await processTag()

/** Creates a folder as a process with this id would have left it. */
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

test('removes folders of ended processes', async () => {
  const under = tempFolder()
  leave(under, {})
  leave(under, { pid: process.pid, ticks: '1' })
  const made = await createScratchFolder('load', under)
  expect(readdirSync(under)).toEqual([basename(made)])
})

test.for([
  { whose: 'a running process', left: { pid: process.pid } },
  { whose: 'a process on another host', left: { host: 'else-where/1' } },
  { whose: 'a container with the same host name', left: { machine: '0123abcd' } },
  { whose: 'another purpose', left: { use: 'verify' } },
])('keeps the folder of $whose', async ({ left }) => {
  const under = tempFolder()
  const folder = leave(under, left)
  await createScratchFolder('load', under)
  expect(existsSync(join(folder, 'spill'))).toBe(true)
})

test('removes the folder of a container with the same host name after a week', async () => {
  const under = tempFolder()
  const folder = leave(under, { machine: '0123abcd' })
  const longAgo = Date.now() / 1000 - 8 * 86_400
  utimesSync(folder, longAgo, longAgo)
  await createScratchFolder('load', under)
  expect(existsSync(folder)).toBe(false)
})

test('the error for an unusable temporary folder names it and TMPDIR', async () => {
  const missing = join(tempFolder(), 'missing')
  await expect(createScratchFolder('load', missing)).rejects.toMatchObject({
    code: 'OUTPUT_FAILED',
    message: `cannot use the temporary folder ${missing}: ENOENT`,
    fix: expect.stringContaining('Set TMPDIR'),
  })
})

test.for(['walletlake-load-mine', 'walletlake-load-a-b-c-d', 'walletlake-load-1-0-aB3xYz'])(
  'keeps the folder %s, which no process created',
  async (name) => {
    const under = tempFolder()
    mkdirSync(join(under, name))
    await createScratchFolder('load', under)
    expect(existsSync(join(under, name))).toBe(true)
  },
)

test('concurrent calls create separate folders, which later calls keep', async () => {
  const under = tempFolder()
  const made = await Promise.all(Array.from({ length: 50 }, () => createScratchFolder('load', under)))
  expect(new Set(made).size).toBe(50)
  await createScratchFolder('load', under)
  expect(made.every((folder) => existsSync(folder))).toBe(true)
})
