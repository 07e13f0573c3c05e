import { appendFileSync, existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { crc32 } from 'node:zlib'
import { expect, test } from 'vitest'
import { openCheckpoint } from '../../src/checkpoint/open-checkpoint.ts'
import { tempFolder } from '../helpers/temp-folder.ts'
import { CLOSED, listed, NOW, open, page } from './open.ts'

/** Appends a record with valid checksums, as another version of the program might have written it. */
function appendRecord(folder: string, header: object): void {
  const json = JSON.stringify({ bytes: 0, crc: 0, ...header })
  const line = `WLF2 ${crc32(json).toString(16).padStart(8, '0')} ${json}\n\n`
  appendFileSync(join(folder, 'pages.log'), line)
}

const PAGE = { kind: 'page', wallet: '0xa', items: 1, bad: 0, blocks: null, head: null }

test.for([
  { what: 'an unknown kind', header: { kind: 'merged' } },
  { what: 'no kind', header: {} },
  { what: 'the name of an inherited property as its kind', header: { kind: 'constructor' } },
  { what: 'a second start of a run', header: { kind: 'run', identity: CLOSED, cutoffMs: null } },
  { what: 'a page without covered blocks', header: PAGE },
  { what: 'a page with text as block numbers', header: { ...PAGE, covered: { from: '10', to: '20' } } },
  {
    what: 'a page with a number as its wallet',
    header: { ...PAGE, wallet: 7, covered: { from: 10, to: 20 } },
  },
  { what: 'an end that is null', header: { kind: 'end', end: null } },
  { what: 'a written range that ends before it begins', header: { kind: 'done', from: 9, to: 2, seen: {} } },
  { what: 'text as counts', header: { kind: 'done', from: 0, to: 2, seen: { '0xa': 'many' } } },
  { what: 'a negative length', header: { kind: 'open', bytes: -1 } },
])('a record with $what counts as damage, and earlier records are retained', async ({ header }) => {
  const folder = tempFolder()
  const first = await open(folder)
  await first.addPage('0xa', page(10, 40))
  await first.close()
  appendRecord(folder, header)
  appendRecord(folder, { kind: 'open' })
  const damage: { bytes: number }[] = []
  const onDamage = (one: { bytes: number }) => damage.push(one)
  const second = await openCheckpoint({ folder, identity: CLOSED, now: NOW, onDamage })
  expect(second.remaining('0xa')).toEqual([{ from: 40, to: 100 }])
  expect(damage).toHaveLength(1)
  expect(existsSync(join(folder, 'pages.log.damaged'))).toBe(true)
  await second.close()
})

/** Names of version 1, by those of version 2. */
const VERSION_1 = {
  cutoffMs: 'cutMs',
  afterCutoff: 'young',
  ranges: 'shown',
  partial: 'begun',
  'reopen-missing': 'again',
} as const

test('a log of version 1 is read, and continued in version 2', async () => {
  const folder = tempFolder()
  const first = await open(folder)
  await first.addPage('0xa', { ...page(10, 40), afterCutoff: 2 })
  await first.addMissing(45)
  await first.reopenMissing()
  await first.addPartial(50, { body: Buffer.from('{}'), token: 'next', pages: 1, items: 1, bad: 0 })
  await first.close()
  const path = join(folder, 'pages.log')
  const older = readFileSync(path, 'latin1').replaceAll(
    /^WLF2 [0-9a-f]{8} (\{.*\})$/gm,
    (_, json: string) => {
      const renamed = Object.entries(VERSION_1).reduce(
        (text, [is, was]) => text.replace(`"${is}"`, `"${was}"`),
        json,
      )
      return `WLF1 ${crc32(renamed).toString(16).padStart(8, '0')} ${renamed}`
    },
  )
  expect(older).toMatch(/"cutMs".*"young".*"again".*"begun"/s)
  writeFileSync(path, older, 'latin1')
  const second = await open(folder)
  expect(second.cutoffMs).toBe(first.cutoffMs)
  expect(second.records(listed('0xa')).map(({ items, afterCutoff }) => [items, afterCutoff])).toEqual([
    [page(10, 40).items, 2],
  ])
  expect(second.missing()).toEqual([])
  expect(await second.partial(50)).toMatchObject({ token: 'next', pages: 1 })
  await second.addPage('0xa', page(60, 70))
  await second.close()
  const third = await open(folder)
  expect(third.records(listed('0xa'))).toHaveLength(2)
  await third.close()
})
