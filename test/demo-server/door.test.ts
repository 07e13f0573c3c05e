import { expect, test } from 'vitest'
import { createDataService } from '../../src/demo-server/create-data-service.ts'
import { ask, walletPath } from './ask.ts'

const URL_ASKED = walletPath('0xa548f4431ec271b95b8BDf86c85147C3bBBC5A4f', 'pageSize=1')

test.for([
  { key: undefined, status: 401, error: 'Unauthorized' },
  { key: '', status: 401, error: 'Unauthorized' },
  { key: 'wrong', status: 403, error: 'Forbidden' },
  { key: 'first ', status: 403, error: 'Forbidden' },
  { key: 'first', status: 200, error: undefined },
  { key: 'second', status: 200, error: undefined },
])('answers the key "$key" with $status', async ({ key, status, error }) => {
  const service = createDataService({ keys: ['first', 'second'] })
  const answer = await ask(service, URL_ASKED, key === undefined ? {} : { 'x-service-api-key': key })
  expect(answer.status).toBe(status)
  expect(answer.body.error).toBe(error)
  expect(JSON.stringify(answer)).not.toContain('second')
})

test('takes the key from another header when told, in any case', async () => {
  const service = createDataService({ keys: ['k'], keyHeader: 'X-Glacier-Api-Key' })
  expect((await ask(service, URL_ASKED, { 'x-glacier-api-key': 'k' })).status).toBe(200)
  expect((await ask(service, URL_ASKED, { 'x-service-api-key': 'k' })).status).toBe(401)
})

test('tells a stranger nothing about parameters or chains', async () => {
  const service = createDataService({ keys: ['k'] })
  expect((await ask(service, walletPath('bad', 'pageSize=0', 'none'))).status).toBe(401)
  expect((await ask(service, '/')).status).toBe(200)
})

test.for([
  { options: { keys: ['good', ''] } },
  { options: { quota: { perSecond: 0 } } },
  { options: { quota: { perSecond: Number.NaN } } },
  { options: { quota: { perSecond: 5, burst: 0 } } },
])('refuses to start with $options', ({ options }) => {
  expect(() => createDataService(options)).toThrow(expect.objectContaining({ code: 'USAGE' }))
})

test('lets a burst in, then one request for each refilled token', async () => {
  const clock = { ms: 5_000 }
  const service = createDataService({ quota: { perSecond: 2, burst: 3 }, now: () => clock.ms })
  const statuses = async (times: number) => {
    const answers: number[] = []
    for (let time = 0; time < times; time++) answers.push((await ask(service, URL_ASKED)).status)
    return answers
  }
  expect(await statuses(4)).toEqual([200, 200, 200, 429])
  clock.ms += 499
  expect(await statuses(1)).toEqual([429])
  clock.ms += 1
  expect(await statuses(2)).toEqual([200, 429])
  clock.ms += 60_000
  expect(await statuses(4)).toEqual([200, 200, 200, 429])
})

test('asks for no longer wait when the clock ran backwards', async () => {
  const clock = { ms: 5_000 }
  const service = createDataService({ quota: { perSecond: 1 }, now: () => clock.ms })
  await ask(service, URL_ASKED)
  clock.ms = 0
  expect((await ask(service, URL_ASKED)).headers['retry-after']).toBe('1')
})

test('says in headers what is left and when to come again', async () => {
  const service = createDataService({ quota: { perSecond: 0.4, burst: 2 }, now: () => 0 })
  const first = await ask(service, URL_ASKED)
  expect(first.headers).toMatchObject({ 'ratelimit-limit': '2', 'ratelimit-remaining': '1' })
  expect(first.headers).not.toHaveProperty('retry-after')
  await ask(service, URL_ASKED)
  const refused = await ask(service, URL_ASKED)
  expect(refused.body).toEqual({
    message: 'Too many requests: ask again in 3 s.',
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

test.for([0.1, 0.3, 0.7, 3, 7, 1000])('lets in whoever waited as told, at %d a second', async (perSecond) => {
  const clock = { ms: 0.1 }
  const service = createDataService({ quota: { perSecond, burst: 1 }, now: () => clock.ms })
  await ask(service, URL_ASKED)
  for (let round = 0; round < 20; round++) {
    const refused = await ask(service, URL_ASKED)
    expect(refused.status).toBe(429)
    clock.ms += Number(refused.headers['retry-after']) * 1000
    expect((await ask(service, URL_ASKED)).status).toBe(200)
  }
})

test('spends quota on bad requests, on each key its own, on strangers none', async () => {
  const service = createDataService({ keys: ['a', 'b'], quota: { perSecond: 1 }, now: () => 0 })
  const statusFor = async (key: string, url: string) =>
    (await ask(service, url, { 'x-service-api-key': key })).status
  expect(await statusFor('wrong', URL_ASKED)).toBe(403)
  expect(await statusFor('a', walletPath('bad'))).toBe(400)
  expect(await statusFor('a', URL_ASKED)).toBe(429)
  expect(await statusFor('b', URL_ASKED)).toBe(200)
  expect(await statusFor('b', URL_ASKED)).toBe(429)
})
