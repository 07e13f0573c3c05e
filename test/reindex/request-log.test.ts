import { appendFileSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { LoggedRequest } from '../../src/reindex/request-log.ts'
import { formatEntry, openRequestLog, readRequestLog } from '../../src/reindex/request-log.ts'
import { tempFolder } from '../helpers/temp-folder.ts'

const NOW = 1_700_000_000_000
const entryOf = (fields: Partial<LoggedRequest> = {}): LoggedRequest => ({
  address: '0xa',
  id: '7',
  answer: 'accepted',
  atMs: NOW - 1,
  untilMs: NOW + 5,
  ...fields,
})
const newPath = () => join(tempFolder(), 'requests.ndjson')
const read = async (path: string) => {
  const all: LoggedRequest[] = []
  for await (const one of readRequestLog(path, { chain: '1', nowMs: NOW })) all.push(one)
  return all
}

test('keeps entries from one opening to the next', async () => {
  const path = newPath()
  for (const id of ['1', '2']) {
    const log = await openRequestLog(path, '1')
    await log.append(entryOf({ id }))
    await log.close()
  }
  expect(await read(path)).toEqual([entryOf({ id: '1' }), entryOf({ id: '2' })])
})

test('is empty without a file', async () => {
  expect(await read(newPath())).toEqual([])
})

test('skips damaged lines and keeps the valid ones', async () => {
  const path = newPath()
  const good = formatEntry(entryOf(), '1')
  writeFileSync(path, Buffer.concat([Buffer.from([0xff, 0x00, 0x0a]), Buffer.from(good)]))
  const bad = ['', 'null', '{}', '7', '{"chain":"1"', good.replace('accepted', 'x'), good.replace('"7"', '7')]
  appendFileSync(path, `${bad.join('\n')}\n${'x'.repeat(5_000)}\n${good}${good.slice(0, 20)}`)
  expect(await read(path)).toEqual([entryOf(), entryOf()])
})

test.for([
  { what: 'of another chain', line: formatEntry(entryOf(), '2') },
  { what: 'with a time in the future', line: formatEntry(entryOf({ atMs: NOW + 1 }), '1') },
  { what: 'with a wait of more than a day', line: formatEntry(entryOf({ untilMs: NOW + 86_400_001 }), '1') },
  { what: 'with a time before 1970', line: formatEntry(entryOf({ atMs: -1 }), '1') },
])('skips a line $what', async ({ line }) => {
  const path = newPath()
  writeFileSync(path, line)
  expect(await read(path)).toEqual([])
})

test('writes complete lines when entries are appended concurrently', async () => {
  const path = newPath()
  const log = await openRequestLog(path, '1')
  await Promise.all(Array.from({ length: 200 }, (_, at) => log.append(entryOf({ id: String(at) }))))
  await log.close()
  expect(await read(path)).toHaveLength(200)
  expect(readFileSync(path, 'utf8').trim().split('\n')).toHaveLength(200)
})
