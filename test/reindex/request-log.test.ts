import { appendFileSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { formatEntry, openRequestLog, readRequestLog } from '../../src/reindex/request-log.ts'
import type { LoggedRequest } from '../../src/reindex/token.ts'
import { tempFolder } from '../helpers/temp-folder.ts'

const NOW = 1_700_000_000_000
const asked = (fields: Partial<LoggedRequest> = {}): LoggedRequest => ({
  ...{ address: '0xa', id: '7', answer: 'accepted', atMs: NOW - 1, untilMs: NOW + 5 },
  ...fields,
})
const newPath = () => join(tempFolder(), 'asked.ndjson')
const recall = async (path: string) => {
  const all: LoggedRequest[] = []
  for await (const one of readRequestLog(path, { chain: '1', nowMs: NOW })) all.push(one)
  return all
}

test('remembers what was asked from one opening to the next', async () => {
  const path = newPath()
  for (const id of ['1', '2']) {
    const memory = await openRequestLog(path, '1')
    await memory.append(asked({ id }))
    await memory.close()
  }
  expect(await recall(path)).toEqual([asked({ id: '1' }), asked({ id: '2' })])
})

test('remembers nothing where there is no file', async () => {
  expect(await recall(newPath())).toEqual([])
})

test('passes over damaged lines and keeps the good ones', async () => {
  const path = newPath()
  const good = formatEntry(asked(), '1')
  writeFileSync(path, Buffer.concat([Buffer.from([0xff, 0x00, 0x0a]), Buffer.from(good)]))
  const bad = ['', 'null', '{}', '7', '{"chain":"1"', good.replace('accepted', 'x'), good.replace('"7"', '7')]
  appendFileSync(path, `${bad.join('\n')}\n${'x'.repeat(5_000)}\n${good}${good.slice(0, 20)}`)
  expect(await recall(path)).toEqual([asked(), asked()])
})

test.for([
  { what: 'of another chain', line: formatEntry(asked(), '2') },
  { what: 'from a time to come', line: formatEntry(asked({ atMs: NOW + 1 }), '1') },
  { what: 'of a wait beyond a day', line: formatEntry(asked({ untilMs: NOW + 86_400_001 }), '1') },
  { what: 'of a time before 1970', line: formatEntry(asked({ atMs: -1 }), '1') },
])('passes over a line $what', async ({ line }) => {
  const path = newPath()
  writeFileSync(path, line)
  expect(await recall(path)).toEqual([])
})

test('writes whole lines when many are remembered at once', async () => {
  const path = newPath()
  const memory = await openRequestLog(path, '1')
  await Promise.all(Array.from({ length: 200 }, (_, at) => memory.append(asked({ id: String(at) }))))
  await memory.close()
  expect(await recall(path)).toHaveLength(200)
  expect(readFileSync(path, 'utf8').trim().split('\n')).toHaveLength(200)
})
