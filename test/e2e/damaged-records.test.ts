// @module-tag long

import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { runCommand } from '../helpers/command.ts'
import { send } from '../helpers/loopback.ts'
import { setUpQueue } from '../helpers/queued-runs.ts'
import { noRedis, startTestServer, type TestServer } from '../helpers/shared-servers.ts'
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

const DAMAGES = [
  { what: 'have different bytes', damage: ({ pages }) => writeFileSync(pages, 'other bytes') },
  { what: 'are missing', damage: ({ pages }) => rmSync(pages) },
  { what: 'are not JSON', damage: spoil },
] as const satisfies { what: string; damage: (stored: { pages: string; note: string }) => void }[]

describe.skipIf(noRedis)('a run with a queue', () => {
  let server: TestServer
  beforeAll(async () => {
    server = await startTestServer()
  })
  afterAll(() => server.stop())

  test.for(DAMAGES)('reads pages again that $what', async ({ damage }) => {
    let damaged = 0
    const at = await setUpQueue(server, ({ count }) => {
      if (count !== 24) return undefined
      return (response, answer) => {
        for (const stored of storedPages(join(at.folder, 'many')).slice(0, 2)) {
          damage(stored)
          damaged += 1
        }
        send(response, answer)
      }
    })
    at.startWorker()
    const { exit, stderr } = await at.runQueued()
    expect(damaged).toBe(2)
    expect([exit, stderr]).toEqual([0, expect.stringContaining('stored pages or partitions were damaged')])
    expect((await at.runAlone()).exit).toBe(0)
    expect(at.bytesOf('many')).toEqual(at.bytesOf('alone'))
    expect((await runCommand(['verify', 'many'], at.env, { cwd: at.folder })).exit).toBe(0)
  })
})
