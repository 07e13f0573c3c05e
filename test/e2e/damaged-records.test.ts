// @module-tag long

import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { runCommand } from '../helpers/command.ts'
import { send } from '../helpers/loopback.ts'
import { setUpQueue } from '../helpers/queued-runs.ts'
import { noRedis, testServer } from '../helpers/shared-servers.ts'
import { corruptPages } from './corrupt-pages.ts'

/** The page files of tasks that are complete, with the records that describe them, which are written last. */
function storedPages(output: string): { pages: string; note: string }[] {
  const cluster = join(output, '.walletlake', 'cluster')
  const paths = readdirSync(cluster, { recursive: true }).map((path) => join(cluster, String(path)))
  return paths
    .filter((path) => path.endsWith('.pages') && !path.includes('unfinished'))
    .map((pages) => ({ pages, note: pages.replace('/pages/', '/reads/').replace('.pages', '.json') }))
    .filter(({ note }) => existsSync(note))
}

/** Replaces the pages with invalid JSON and valid checksums. */
function spoil({ pages, note }: { pages: string; note: string }): void {
  expect(corruptPages(pages, () => true)).toBeGreaterThan(0)
  const sha256 = createHash('sha256').update(readFileSync(pages)).digest('hex')
  writeFileSync(note, JSON.stringify({ ...JSON.parse(readFileSync(note, 'utf8')), sha256 }))
}

const DAMAGES: ((stored: { pages: string; note: string }) => void)[] = [
  ({ pages }) => writeFileSync(pages, 'other bytes'),
  ({ pages }) => rmSync(pages),
  spoil,
]

describe.skipIf(noRedis)('a run with a queue', () => {
  const server = testServer()

  test('reads pages again that have different bytes, are missing or are not JSON', async () => {
    let damaged = 0
    const at = await setUpQueue(server, ({ count }) => {
      if (count !== 24) return undefined
      return (response, answer) => {
        const stored = storedPages(join(at.folder, 'many'))
        for (const damage of DAMAGES) {
          const pages = stored.shift()
          if (pages === undefined) continue
          damage(pages)
          damaged += 1
        }
        send(response, answer)
      }
    })
    at.startWorker()
    const { exit, stderr } = await at.runQueued()
    expect(damaged).toBe(DAMAGES.length)
    expect([exit, stderr]).toEqual([0, expect.stringContaining('stored pages or partitions were damaged')])
    await at.expectSameAsAlone()
    expect((await runCommand(['verify', 'many'], at.env, { cwd: at.folder })).exit).toBe(0)
  })
})
