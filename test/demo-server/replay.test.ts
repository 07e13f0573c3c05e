import { expect, onTestFinished, test } from 'vitest'
import { createDataService } from '../../src/demo-server/create-data-service.ts'
import type { DataService, DataServiceOptions } from '../../src/demo-server/data-service.ts'
import { ask, askAll, blockPath, walletPath } from './ask.ts'
import { manualTimers } from './receiver.ts'

const BUSIEST = '0xa548f4431ec271b95b8BDf86c85147C3bBBC5A4f'

async function listed(service: DataService, query = ''): Promise<number> {
  return (await askAll(service, walletPath(BUSIEST, `pageSize=100&${query}`))).length
}

test('shows a chain up to a head that grows as told', async () => {
  const whole = createDataService()
  const service = createDataService({ replay: { from: 100 } })
  for (const head of [100, 101, 131]) {
    expect(await service.advance(head === 100 ? 0 : head === 101 ? undefined : 30)).toBe(head)
    expect(await listed(service)).toBe(await listed(whole, `endBlock=${head + 1}`))
    expect((await ask(service, blockPath(head))).status).toBe(200)
    expect((await ask(service, blockPath(head + 1))).status).toBe(404)
  }
})

test('begins with the genesis block and ends with the last one', async () => {
  const service = createDataService({ replay: {} })
  expect((await ask(service, blockPath(0))).status).toBe(200)
  expect((await ask(service, blockPath(1))).status).toBe(404)
  expect(await service.advance(1000)).toBe(420)
  expect(await service.advance(1)).toBe(420)
  expect(await listed(service)).toBe(2042)
})

test('grows step by step when steps are asked for at once', async () => {
  const service = createDataService({ replay: {} })
  expect(await Promise.all([service.advance(3), service.advance(2), service.advance(4)])).toEqual([3, 5, 9])
})

test('leaves the other chains at their head', async () => {
  const service = createDataService({ replay: { chain: '1', from: 17173049 }, head: 5 })
  expect((await ask(service, blockPath(17173049, '', '1'))).status).toBe(200)
  expect((await ask(service, blockPath(17173050, '', '1'))).status).toBe(404)
  expect((await ask(service, blockPath(5))).status).toBe(200)
  expect((await ask(service, blockPath(6))).status).toBe(404)
  expect(await service.advance(9)).toBe(17173050)
})

test('grows by itself, block after block, until its last one', async () => {
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

test('grows no more once it is closed', async () => {
  const timers = manualTimers()
  const service = createDataService({ replay: { everyMs: 250 }, scheduleAfter: timers.after })
  service.close()
  expect(timers.delays()).toEqual([])
})

test.for([
  { replay: { chain: '7' }, says: 'there is no chain 7 to replay' },
  { replay: { from: -1 }, says: 'a whole number' },
  { replay: { from: 0.5 }, says: 'a whole number' },
  { replay: { everyMs: 0 }, says: 'some time a block' },
  { replay: { everyMs: Number.NaN }, says: 'some time a block' },
] as { replay: DataServiceOptions['replay']; says: string }[])(
  'refuses the replay $replay',
  ({ replay, says }) => {
    expect(() => createDataService({ replay })).toThrow(
      expect.objectContaining({ code: 'USAGE', message: expect.stringContaining(says) }),
    )
  },
)

test('refuses to grow without a replay, and backwards', async () => {
  await expect(createDataService().advance()).rejects.toMatchObject({ code: 'USAGE' })
  await expect(createDataService({ replay: {} }).advance(-1)).rejects.toMatchObject({ code: 'USAGE' })
})
