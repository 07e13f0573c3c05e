import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { faultWhere, respondWith } from '../helpers/faults.ts'
import { addresses, baselineRun, faultyRun, service } from '../helpers/faulty-run.ts'
import { startLoopback } from '../helpers/loopback.ts'
import { outputBytes } from '../helpers/output-bytes.ts'

const body = (message: unknown) => JSON.stringify({ message, statusCode: 400, error: 'Bad Request' })

test.for([
  {
    status: 400,
    message: ['no such chain', 'nor address'],
    says: 'no such chain; nor address',
    code: 'REQUEST_REFUSED',
  },
  { status: 401, message: 'no key', says: 'no key', code: 'KEY_REFUSED' },
  { status: 403, message: ['bad key'], says: 'bad key', code: 'KEY_REFUSED' },
  { status: 404, message: { deep: 1 }, says: '404', code: 'REQUEST_REFUSED' },
  { status: 304, message: 'nothing new', says: '304', code: 'REQUEST_REFUSED' },
])('ends with $code on $status and message $message, and resumes', async (given) => {
  const calm = await baselineRun()
  const good = 4
  const fault = faultWhere(({ count }) => count > good, respondWith(given.status, body(given.message)))
  const { code, output, message } = await faultyRun(fault, { concurrency: 1 })
  expect(code).toBe(given.code)
  expect(message).toMatch(/^wallet 0x[0-9a-f]{40}, (block \d+|blocks \d+ to 420): the service answered/)
  expect(message).toContain(given.says)
  const later = await faultyRun(undefined, { output })
  expect(outputBytes(output)).toEqual(calm.bytes)
  expect(later.requests.length).toBeLessThanOrEqual(calm.requests - good + 2)
})

test('sends a refused request once per wallet', async () => {
  const { requests } = await faultyRun(
    faultWhere(() => true, respondWith(403, body('no'))),
    { concurrency: 1 },
  )
  const paths = requests.map(({ path }) => path).filter((path) => path.includes('/addresses/'))
  expect(new Set(paths).size).toBe(addresses.length)
  expect(paths).toHaveLength(addresses.length)
})

const key = 'k3y-$&-of-someone'

test.for([301, 302, 307, 308])('does not follow a redirect %i to another host', async (status) => {
  const other = await startLoopback(service)
  const redirect = respondWith(status, '', { location: `${other.url}/v1/elsewhere` })
  const { code, requests } = await faultyRun(
    faultWhere(() => true, redirect),
    { options: { apiKey: key } },
  )
  expect(code).toBe('REQUEST_REFUSED')
  expect(requests[0]?.headers['x-service-api-key']).toBe(key)
  expect(other.requests).toEqual([])
})

/** Reads all files of a folder as one text. */
function allText(folder: string): string {
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) =>
    entry.isFile(),
  )
  return files.map((entry) => readFileSync(join(entry.parentPath, entry.name), 'latin1')).join('\n')
}

test.for([
  { status: 401, message: `the key ${key} is unknown` },
  { status: 400, message: [`key=${key}`, 'and more'] },
  { status: 400, message: `${'long '.repeat(57)}${key}` },
  { status: 500, message: `bad gateway for "${key}"` },
])('shows no key that the service echoes with $status', async ({ status, message }) => {
  const details: string[] = []
  const options = {
    apiKey: key,
    retry: { retries: 1, firstDelayMs: 1 },
    onDetail: (detail: string) => details.push(detail),
    onNotice: (notice: string) => details.push(notice),
  }
  const fault = faultWhere(({ count }) => count > 2, respondWith(status, body(message)))
  const ended = await faultyRun(fault, { options })
  expect(ended.code).toBeDefined()
  const printed = [ended.message, ...details, allText(ended.output)].join('\n')
  expect(printed).toContain(`the service answered ${status}`)
  for (const part of [key, key.slice(0, 8)]) expect(printed).not.toContain(part)
})
