import { expect, onTestFinished, test } from 'vitest'
import { createDataService } from '../../src/demo-server/create-data-service.ts'
import type { DataService, DataServiceOptions } from '../../src/demo-server/data-service.ts'
import { manualTimers } from './receiver.ts'
import { blockPath, fetchAll, fetchJson, walletPath } from './requests.ts'

const BUSIEST = '0xa548f4431ec271b95b8BDf86c85147C3bBBC5A4f'

async function listed(service: DataService, query = ''): Promise<number> {
  return (await fetchAll(service, walletPath(BUSIEST, `pageSize=100&${query}`))).length
}

test('serves a chain up to the head, which advance moves', async () => {
  const whole = createDataService()
  const service = createDataService({ replay: { from: 100 } })
  for (const head of [100, 101, 131]) {
    expect(await service.advance(head === 100 ? 0 : head === 101 ? undefined : 30)).toBe(head)
    expect(await listed(service)).toBe(await listed(whole, `endBlock=${head + 1}`))
    expect((await fetchJson(service, blockPath(head))).status).toBe(200)
    expect((await fetchJson(service, blockPath(head + 1))).status).toBe(404)
  }
})

test('starts with the genesis block and stops at the last one', async () => {
  const service = createDataService({ replay: {} })
  expect((await fetchJson(service, blockPath(0))).status).toBe(200)
  expect((await fetchJson(service, blockPath(1))).status).toBe(404)
  expect(await service.advance(1000)).toBe(420)
  expect(await service.advance(1)).toBe(420)
  expect(await listed(service)).toBe(2042)
})

test('runs concurrent steps one after another', async () => {
  const service = createDataService({ replay: {} })
  expect(await Promise.all([service.advance(3), service.advance(2), service.advance(4)])).toEqual([3, 5, 9])
})

test('does not change the head of other chains', async () => {
  const service = createDataService({ replay: { chain: '1', from: 17173049 }, head: 5 })
  expect((await fetchJson(service, blockPath(17173049, '', '1'))).status).toBe(200)
  expect((await fetchJson(service, blockPath(17173050, '', '1'))).status).toBe(404)
  expect((await fetchJson(service, blockPath(5))).status).toBe(200)
  expect((await fetchJson(service, blockPath(6))).status).toBe(404)
  expect(await service.advance(9)).toBe(17173050)
})

test('grows by one block per interval until the last block', async () => {
  const timers = manualTimers()
  const service = createDataService({ replay: { from: 418, everyMs: 250 }, scheduleAfter: timers.after })
  onTestFinished(() => service.close())
  for (const head of [419, 420]) {
    expect(timers.delays()).toEqual([250])
    timers.pass()
    expect(await service.advance(0)).toBe(head)
  }
  timers.pass()
  expect(await service.advance(0)).toBe(420)
  expect(timers.delays()).toEqual([])
})

test('stops growing after close', async () => {
  const timers = manualTimers()
  const service = createDataService({ replay: { everyMs: 250 }, scheduleAfter: timers.after })
  service.close()
  expect(timers.delays()).toEqual([])
})

test.for([
  { replay: { chain: '7' }, message: 'there is no chain 7 to replay' },
  { replay: { from: -1 }, message: 'a whole number' },
  { replay: { from: 0.5 }, message: 'a whole number' },
  { replay: { everyMs: 0 }, message: 'a positive interval per block' },
  { replay: { everyMs: Number.NaN }, message: 'a positive interval per block' },
] as { replay: DataServiceOptions['replay']; message: string }[])(
  'rejects the replay $replay',
  ({ replay, message }) => {
    expect(() => createDataService({ replay })).toThrow(
      expect.objectContaining({ code: 'USAGE', message: expect.stringContaining(message) }),
    )
  },
)

test('advance rejects a service without a replay, and negative steps', async () => {
  await expect(createDataService().advance()).rejects.toMatchObject({ code: 'USAGE' })
  await expect(createDataService({ replay: {} }).advance(-1)).rejects.toMatchObject({ code: 'USAGE' })
})
