import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { brotliCompressSync, crc32, gzipSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { parseHead } from '../../../src/spool/log.ts'
import { breakWhere, says } from '../../helpers/faults.ts'
import { calmRun, faultyRun } from '../../helpers/faulty-run.ts'
import { outputBytes } from '../../helpers/output-bytes.ts'

const quick = { options: { retry: { retries: 1, firstDelayMs: 1, maxDelayMs: 2 } } }
const page = (items: string) => `{"transactions":[${items}]}`

/** Small responses that would take gigabytes, and what they are refused for. */
const BOMBS = [
  {
    what: '126,000 empty items',
    body: page(`${'{},'.repeat(125_999)}{}`),
    says: '126000 items, more than the limit of 10000',
  },
  {
    what: '11 million empty items',
    body: page(`${'{},'.repeat(10_999_999)}{}`),
    says: 'more than 2000000 values',
  },
  {
    what: '250 MB of blanks',
    body: ' '.repeat(250_000_000),
    says: 'larger than the limit of 33554432 bytes',
  },
  { what: 'lists in 15 million levels', body: '['.repeat(15_000_000), says: 'deeper than 500000 levels' },
]

test.for(BOMBS)('$what end the run with the name of the limit, and resume', async ({ body, says: limit }) => {
  const calm = await calmRun()
  const packed = brotliCompressSync(body)
  const bomb = says(200, packed, { 'content-encoding': 'br' })
  const { code, message, output } = await faultyRun(
    breakWhere(({ count }) => count > 2, bomb),
    quick,
  )
  expect([code, message]).toEqual(['PAGE_MALFORMED', expect.stringContaining(limit)])
  await faultyRun(undefined, { output })
  expect(outputBytes(output)).toEqual(calm.bytes)
})

test('many bombs at once leave memory for everything else', async () => {
  const bomb = says(200, gzipSync(page(`${'[1],'.repeat(900_000)}1`)), { 'content-encoding': 'gzip' })
  const { code } = await faultyRun(
    breakWhere(() => true, bomb),
    { ...quick, concurrency: 64 },
  )
  expect(code).toBe('PAGE_MALFORMED')
  expect(process.memoryUsage().rss).toBeLessThan(1_500_000_000)
})

/** Has the first page with items in a checkpoint hold bytes that are no JSON, its checksums right. */
function spoilFirstPage(log: string): void {
  const bytes = readFileSync(log)
  const frames: Buffer[] = []
  let isSpoilt = false
  for (let at = 0; at < bytes.length; ) {
    const head = parseHead(bytes.subarray(at))
    if (head === undefined) break
    const end = at + head.length + head.bytes + 1
    const body = bytes.subarray(at + head.length, end - 1)
    const spoils: boolean = !isSpoilt && head.fields.kind === 'page' && Number(head.fields.items) > 0
    if (spoils) body.fill('x')
    isSpoilt ||= spoils
    const json = JSON.stringify({ ...head.fields, crc: crc32(body) })
    frames.push(
      Buffer.from(`WLF1 ${crc32(json).toString(16).padStart(8, '0')} ${json}\n`),
      body,
      Buffer.from('\n'),
    )
    at = end
  }
  expect(isSpoilt).toBe(true)
  writeFileSync(log, Buffer.concat(frames))
}

test('a checkpoint that holds a page which cannot be read is requested again', async () => {
  const calm = await calmRun()
  const { code, output } = await faultyRun(undefined, { options: { maxRequests: 6 } })
  expect(code).toBe('BUDGET_REACHED')
  spoilFirstPage(join(output, '.walletlake', 'pages.log'))
  const notices: string[] = []
  const again = await faultyRun(undefined, {
    output,
    options: { onNotice: (notice) => notices.push(notice) },
  })
  expect(again.code).toBeUndefined()
  expect(notices.join('\n')).toContain(
    'the checkpoint holds a page that cannot be read; its pages are requested again',
  )
  expect(outputBytes(output)).toEqual(calm.bytes)
})
