import { appendFileSync, existsSync } from 'node:fs'
import { join } from 'node:path'
import { crc32 } from 'node:zlib'
import { expect, test } from 'vitest'
import { openCheckpoint } from '../../src/checkpoint/open-checkpoint.ts'
import { tempFolder } from '../helpers/temp-folder.ts'
import { CLOSED, NOW, open, page } from './open.ts'

/** Adds a frame whose checksums hold, as another version of the program might have written it. */
function appendFrame(folder: string, head: object): void {
  const json = JSON.stringify({ bytes: 0, crc: 0, ...head })
  const line = `WLF1 ${crc32(json).toString(16).padStart(8, '0')} ${json}\n\n`
  appendFileSync(join(folder, 'pages.log'), line)
}

const PAGE = { kind: 'page', wallet: '0xa', items: 1, bad: 0, blocks: null, head: null }

test.for([
  { what: 'an unknown kind', head: { kind: 'merged' } },
  { what: 'no kind', head: {} },
  { what: 'a name of every object as its kind', head: { kind: 'constructor' } },
  { what: 'a second beginning', head: { kind: 'run', identity: CLOSED, cutMs: null } },
  { what: 'a page without its blocks', head: PAGE },
  { what: 'a page of text', head: { ...PAGE, covered: { from: '10', to: '20' } } },
  { what: 'a page of a wallet that is none', head: { ...PAGE, wallet: 7, covered: { from: 10, to: 20 } } },
  { what: 'an end that is none', head: { kind: 'end', end: null } },
  { what: 'files of blocks that run backwards', head: { kind: 'done', from: 9, to: 2, seen: {} } },
  { what: 'counts that are none', head: { kind: 'done', from: 0, to: 2, seen: { '0xa': 'many' } } },
  { what: 'a length below nothing', head: { kind: 'open', bytes: -1 } },
])('a frame of $what counts as damage, what came before stays', async ({ head }) => {
  const folder = tempFolder()
  const first = await open(folder)
  await first.addPage('0xa', page(10, 40))
  await first.close()
  appendFrame(folder, head)
  appendFrame(folder, { kind: 'open' })
  const damage: { bytes: number }[] = []
  const onDamage = (of: { bytes: number }) => damage.push(of)
  const second = await openCheckpoint({ folder, identity: CLOSED, now: NOW, onDamage })
  expect(second.remaining('0xa')).toEqual([{ from: 40, to: 100 }])
  expect(damage).toHaveLength(1)
  expect(existsSync(join(folder, 'pages.log.damaged'))).toBe(true)
  await second.close()
})
