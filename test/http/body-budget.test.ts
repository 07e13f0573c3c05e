import fc from 'fast-check'
import { expect, onTestFinished, test } from 'vitest'
import { MAX_BODY_BYTES } from '../../src/core/model/limits.ts'
import { createBodyBudget } from '../../src/http/body.ts'
import { createClient } from '../../src/http/http-client.ts'
import { startServer } from './server.ts'

test('never grants more bytes than the budget, and grants every reservation in the end', () => {
  const bytes = fc.integer({ min: 0, max: 150 })
  fc.assert(
    fc.property(fc.array(bytes), (wanted) => {
      const budget = createBodyBudget(100)
      let used = 0
      const open: (() => void)[] = []
      let granted = 0
      for (const each of wanted) {
        const release = budget.reserve(each, () => {
          granted += 1
          used += Math.min(each, 100)
          expect(used).toBeLessThanOrEqual(100)
        })
        open.push(() => {
          used -= Math.min(each, 100)
          release()
        })
      }
      for (let at = 0; at < open.length; at += 1) {
        expect(granted).toBeGreaterThan(at)
        open[at]?.()
      }
      expect([granted, used]).toEqual([wanted.length, 0])
    }),
  )
})

test('a cancelled reservation is never granted and blocks no other', () => {
  const budget = createBodyBudget(100)
  const granted: string[] = []
  const first = budget.reserve(80, () => granted.push('first'))
  const second = budget.reserve(80, () => granted.push('second'))
  budget.reserve(20, () => granted.push('third'))
  second()
  second()
  first()
  expect(granted).toEqual(['first', 'third'])
})

test('receives the largest bodies one at a time under concurrent requests', { tags: ['long'] }, async () => {
  const chunk = Buffer.alloc(MAX_BODY_BYTES / 16, 'x')
  const { url } = await startServer(() => (response) => {
    for (let sent = 0; sent < 16; sent += 1) response.write(chunk)
    response.end()
  })
  const client = createClient({
    baseUrl: url,
    apiKey: undefined,
    apiKeyHeader: 'x-service-api-key',
    timeoutMs: 120_000,
    connections: 6,
  })
  onTestFinished(() => client.close())
  let [open, most] = [0, 0]
  const sendOne = async () => {
    const { body, release } = await client.send(
      { method: 'GET', pathAndQuery: '/' },
      new AbortController().signal,
    )
    open += 1
    most = Math.max(most, open)
    expect(body).toHaveLength(MAX_BODY_BYTES)
    await new Promise((resolve) => setImmediate(resolve))
    open -= 1
    release?.()
  }
  await Promise.all(Array.from({ length: 6 }, sendOne))
  expect(most).toBe(1)
})
