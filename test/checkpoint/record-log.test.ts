import { appendFileSync, existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { type LogDamage, openRecordLog, scanRecordLog } from '../../src/checkpoint/record-log.ts'
import { ExportError } from '../../src/core/model/errors.ts'
import { lockOutput } from '../../src/core/platform/lock/lock.ts'
import { tempFile, tempFolder } from '../helpers/temp-folder.ts'

type Recovered = {
  records: { n: unknown; body: string }[]
  damage: { bytes: number; savedTo: string | undefined }[]
}

/**
 * Opens the log, appends `bodies` and closes it. Resolves with the records and damage found when it was
 * opened.
 */
async function visit(path: string, bodies: readonly string[] = []): Promise<Recovered> {
  const found: { n: unknown; location: { offset: number; bytes: number } }[] = []
  const damage: Recovered['damage'] = []
  const log = await openRecordLog(path, {
    onRecord: (header, location) => found.push({ n: header.n, location }),
    onDamage: ({ headers: _, ...one }) => damage.push(one),
  })
  const records: Recovered['records'] = []
  for (const { n, location } of found) records.push({ n, body: (await log.read(location)).toString() })
  for (const [at, body] of bodies.entries()) await log.append({ n: records.length + at }, Buffer.from(body))
  await log.close()
  return { records, damage }
}

const numbered = (bodies: readonly string[]) => bodies.map((body, n) => ({ n, body }))

test('records survive reopening in the order in which they were written', async () => {
  const path = join(tempFolder(), 'log')
  expect(await visit(path, ['one', ''])).toEqual({ records: [], damage: [] })
  expect(await visit(path, ['three\nlines\n'])).toEqual({ records: numbered(['one', '']), damage: [] })
  expect(await visit(path)).toEqual({ records: numbered(['one', '', 'three\nlines\n']), damage: [] })
})

test('bodies can be read immediately, byte for byte', async () => {
  const log = await openRecordLog(join(tempFolder(), 'log'), { onRecord: () => {}, onDamage: () => {} })
  const body = Buffer.from([0, 255, 10, 13, 0x57, 0x4c, 0x46, 0x32, 0x20])
  const locations = await Promise.all([body, Buffer.from('second')].map((of, n) => log.append({ n }, of)))
  expect(await Promise.all(locations.map(log.read))).toEqual([body, Buffer.from('second')])
  await log.close()
})

test('a last record torn at any byte is truncated, and earlier records are retained', async () => {
  const path = join(tempFolder(), 'log')
  await visit(path, ['first', 'second'])
  const retained = readFileSync(path).length
  await visit(path, ['the last one'])
  const whole = readFileSync(path)
  for (let length = retained; length < whole.length; length += 1) {
    writeFileSync(path, whole.subarray(0, length))
    const { records, damage } = await visit(path, ['again'])
    expect(records).toEqual(numbered(['first', 'second']))
    expect(damage).toEqual(length === retained ? [] : [{ bytes: length - retained, savedTo: undefined }])
    expect((await visit(path)).records).toEqual(numbered(['first', 'second', 'again']))
  }
})

test('a flipped bit anywhere never yields a changed record', async () => {
  const folder = tempFolder()
  const bodies = ['{"a":1}', 'second', 'third\nthird', '4']
  await visit(join(folder, 'log'), bodies)
  const whole = readFileSync(join(folder, 'log'))
  const separators = await bodyEnds(join(folder, 'log'))
  await fc.assert(
    fc.asyncProperty(fc.nat(whole.length - 1), fc.nat(7), async (at, bit) => {
      const path = join(folder, `log-${at}-${bit}`)
      const flipped = Buffer.from(whole)
      flipped[at] = (flipped[at] ?? 0) ^ (1 << bit)
      writeFileSync(path, flipped)
      const { records, damage } = await visit(path)
      expect(numbered(bodies).slice(0, records.length)).toEqual(records)
      if (separators.includes(at)) expect(records).toHaveLength(bodies.length)
      else expect(damage).toHaveLength(1)
      const lost = whole.subarray(whole.length - (damage[0]?.bytes ?? 0))
      const isLast = records.length >= bodies.length - 1
      expect(existsSync(`${path}.damaged`)).toBe(!isLast)
      if (!isLast) expect(readFileSync(`${path}.damaged`)).toHaveLength(lost.length)
      expect(await visit(path)).toEqual({ records, damage: [] })
    }),
    { numRuns: 400 },
  )
})

/** Offsets of the line feeds that separate a body from the next record and are not covered by a checksum. */
async function bodyEnds(path: string): Promise<number[]> {
  const ends: number[] = []
  await scanRecordLog(path, (_header, { offset, bytes }) => ends.push(offset + bytes))
  return ends
}

test('the saved damaged bytes are those that were truncated', async () => {
  const path = join(tempFolder(), 'log')
  await visit(path, ['first'])
  const retained = readFileSync(path).length
  await visit(path, ['second', 'third'])
  const bytes = readFileSync(path)
  bytes[retained + 2] = 0
  writeFileSync(path, bytes)
  const { damage } = await visit(path)
  expect(damage).toEqual([{ bytes: bytes.length - retained, savedTo: `${path}.damaged` }])
  expect(readFileSync(`${path}.damaged`)).toEqual(bytes.subarray(retained))
})

test('a log of an unknown version is saved before it is truncated', async () => {
  const path = join(tempFolder(), 'log')
  await visit(path, ['first', 'second'])
  const other = readFileSync(path, 'latin1').replaceAll('WLF2 ', 'WLF3 ')
  writeFileSync(path, other)
  const damage = [{ bytes: other.length, savedTo: `${path}.damaged` }]
  expect(await visit(path)).toEqual({ records: [], damage })
  expect(readFileSync(`${path}.damaged`, 'latin1')).toBe(other)
})

test('the intact headers after a damaged record are counted', async () => {
  const path = join(tempFolder(), 'log')
  await visit(path, ['first', 'damaged', 'WLF2 a body that looks like a header', 'last'])
  const bytes = readFileSync(path)
  bytes[bytes.indexOf('damaged')] = 0
  writeFileSync(path, bytes)
  const numbers: unknown[] = []
  const onDamage = ({ headers }: LogDamage) => numbers.push(...headers.map(({ n }) => n))
  const log = await openRecordLog(path, { onRecord: () => {}, onDamage })
  await log.close()
  // The damaged body has an intact header.
  expect(numbers).toEqual([1, 2, 3])
})

test('a header of any length survives reopening', async () => {
  const path = join(tempFolder(), 'log')
  for (const length of [4_000, 5_000, 40_000, 400_000]) {
    const log = await openRecordLog(path, { onRecord: () => {}, onDamage: () => {} })
    await log.append({ long: 'x'.repeat(length) }, Buffer.from('body'))
    await log.close()
  }
  const lengths: number[] = []
  await scanRecordLog(path, (header) => lengths.push(String(header.long).length))
  expect(lengths).toEqual([4_000, 5_000, 40_000, 400_000])
})

test('a file without a valid record is truncated', async () => {
  const path = tempFile('log', 'WLF2 '.padEnd(50_000, 'x'))
  expect(await visit(path)).toEqual({ records: [], damage: [{ bytes: 50_000, savedTo: undefined }] })
})

test('scanning passes the records and changes nothing', async () => {
  const folder = tempFolder()
  await visit(join(folder, 'log'), ['one', 'two'])
  writeFileSync(join(folder, 'log'), Buffer.concat([readFileSync(join(folder, 'log')), Buffer.from('torn')]))
  const before = readFileSync(join(folder, 'log'))
  const scanned: unknown[] = []
  await scanRecordLog(join(folder, 'log'), ({ n }) => scanned.push(n))
  await scanRecordLog(join(folder, 'missing'), () => scanned.push('never'))
  expect(scanned).toEqual([0, 1])
  expect(readFileSync(join(folder, 'log'))).toEqual(before)
  expect(readdirSync(folder)).toEqual(['log'])
})

test('a log that cannot be opened fails with OUTPUT_FAILED', async () => {
  const opening = openRecordLog(tempFolder(), { onRecord: () => {}, onDamage: () => {} })
  await expect(opening).rejects.toThrow(ExportError)
  await expect(opening).rejects.toMatchObject({ code: 'OUTPUT_FAILED' })
})

test('appending fails after another process has written to the log', async () => {
  const path = join(tempFolder(), 'log')
  const log = await openRecordLog(path, { onRecord: () => {}, onDamage: () => {} })
  await log.append({ n: 0 }, Buffer.from('ours'))
  appendFileSync(path, 'another process')
  const before = readFileSync(path)
  for (const n of [1, 2])
    await expect(log.append({ n }, Buffer.from('later'))).rejects.toMatchObject({ code: 'OUTPUT_LOCKED' })
  await log.close()
  expect(readFileSync(path)).toEqual(before)
})

test('a process whose lock was taken over appends no record', async () => {
  const folder = tempFolder()
  const release = await lockOutput(folder)
  const log = await openRecordLog(join(folder, 'log'), { onRecord: () => {}, onDamage: () => {} })
  writeFileSync(join(folder, 'lock'), '{"pid":1,"host":"elsewhere","startedAt":"2024-05-06T07:08:09.000Z"}')
  await expect(log.append({ n: 0 }, Buffer.from('late'))).rejects.toMatchObject({ code: 'OUTPUT_LOCKED' })
  await log.close()
  await release()
  expect(readFileSync(join(folder, 'log'), 'utf8')).toBe('')
})
