import { expect, test } from 'vitest'
import { createDataService } from '../../src/demo-server/create-data-service.ts'
import { fetchJson, walletPath } from './requests.ts'

const LISTING_URL = walletPath('0xa548f4431ec271b95b8BDf86c85147C3bBBC5A4f', 'pageSize=1')

test.for([
  { key: undefined, status: 401, error: 'Unauthorized' },
  { key: '', status: 401, error: 'Unauthorized' },
  { key: 'wrong', status: 403, error: 'Forbidden' },
  { key: 'first ', status: 403, error: 'Forbidden' },
  { key: 'first', status: 200, error: undefined },
  { key: 'second', status: 200, error: undefined },
])('responds to the key "$key" with $status', async ({ key, status, error }) => {
  const service = createDataService({ keys: ['first', 'second'] })
  const response = await fetchJson(
    service,
    LISTING_URL,
    key === undefined ? {} : { 'x-service-api-key': key },
  )
  expect(response.status).toBe(status)
  expect(response.body.error).toBe(error)
  expect(JSON.stringify(response)).not.toContain('second')
})

test('reads the key from another header, in any letter case', async () => {
  const service = createDataService({ keys: ['k'], keyHeader: 'X-Glacier-Api-Key' })
  expect((await fetchJson(service, LISTING_URL, { 'x-glacier-api-key': 'k' })).status).toBe(200)
  expect((await fetchJson(service, LISTING_URL, { 'x-service-api-key': 'k' })).status).toBe(401)
})

test('reveals nothing about parameters or chains without a key', async () => {
  const service = createDataService({ keys: ['k'] })
  expect((await fetchJson(service, walletPath('bad', 'pageSize=0', 'none'))).status).toBe(401)
  expect((await fetchJson(service, '/')).status).toBe(200)
})

test.for([
  { options: { keys: ['good', ''] } },
  { options: { quota: { perSecond: 0 } } },
  { options: { quota: { perSecond: Number.NaN } } },
  { options: { quota: { perSecond: 5, burst: 0 } } },
])('throws for the options $options', ({ options }) => {
  expect(() => createDataService(options)).toThrow(expect.objectContaining({ code: 'USAGE' }))
})

test('accepts a burst, then one request per refilled token', async () => {
  const clock = { ms: 5_000 }
  const service = createDataService({ quota: { perSecond: 2, burst: 3 }, now: () => clock.ms })
  const statusesOf = async (times: number) => {
    const statuses: number[] = []
    for (let time = 0; time < times; time++) statuses.push((await fetchJson(service, LISTING_URL)).status)
    return statuses
  }
  expect(await statusesOf(4)).toEqual([200, 200, 200, 429])
  clock.ms += 499
  expect(await statusesOf(1)).toEqual([429])
  clock.ms += 1
  expect(await statusesOf(2)).toEqual([200, 429])
  clock.ms += 60_000
  expect(await statusesOf(4)).toEqual([200, 200, 200, 429])
})

test('does not increase retry-after when the clock runs backwards', async () => {
  const clock = { ms: 5_000 }
  const service = createDataService({ quota: { perSecond: 1 }, now: () => clock.ms })
  await fetchJson(service, LISTING_URL)
  clock.ms = 0
  expect((await fetchJson(service, LISTING_URL)).headers['retry-after']).toBe('1')
})

test('reports the remaining quota and the time of a retry in headers', async () => {
  const service = createDataService({ quota: { perSecond: 0.4, burst: 2 }, now: () => 0 })
  const first = await fetchJson(service, LISTING_URL)
  expect(first.headers).toMatchObject({ 'ratelimit-limit': '2', 'ratelimit-remaining': '1' })
  expect(first.headers).not.toHaveProperty('retry-after')
  await fetchJson(service, LISTING_URL)
  const refused = await fetchJson(service, LISTING_URL)
  expect(refused.body).toEqual({
    message: 'Too many requests: retry in 3 s.',
    statusCode: 429,
    error: 'Too Many Requests',
  })
  expect(refused.headers).toMatchObject({
    'ratelimit-policy': '2;w=5',
    'ratelimit-limit': '2',
    'ratelimit-remaining': '0',
    'ratelimit-reset': '3',
    'retry-after': '3',
  })
})

test.for([0.1, 0.3, 0.7, 3, 7, 1000])(
  'accepts a request after the time in retry-after, at %d requests per second',
  async (perSecond) => {
    const clock = { ms: 0.1 }
    const service = createDataService({ quota: { perSecond, burst: 1 }, now: () => clock.ms })
    await fetchJson(service, LISTING_URL)
    for (let round = 0; round < 20; round++) {
      const refused = await fetchJson(service, LISTING_URL)
      expect(refused.status).toBe(429)
      clock.ms += Number(refused.headers['retry-after']) * 1000
      expect((await fetchJson(service, LISTING_URL)).status).toBe(200)
    }
  },
)

test('counts invalid requests against the quota of their key, and requests without a valid key against none', async () => {
  const service = createDataService({ keys: ['a', 'b'], quota: { perSecond: 1 }, now: () => 0 })
  const statusFor = async (key: string, url: string) =>
    (await fetchJson(service, url, { 'x-service-api-key': key })).status
  expect(await statusFor('wrong', LISTING_URL)).toBe(403)
  expect(await statusFor('a', walletPath('bad'))).toBe(400)
  expect(await statusFor('a', LISTING_URL)).toBe(429)
  expect(await statusFor('b', LISTING_URL)).toBe(200)
  expect(await statusFor('b', LISTING_URL)).toBe(429)
})
