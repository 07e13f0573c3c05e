// One process of several that share a quota: eight readers ask for a page again and again; prints what came of it.
// Usage: node ask-within-quota.js REDIS_URL SERVICE_URL SECONDS
import { setMaxListeners } from 'node:events'
import { Redis } from 'ioredis'
import { createClient } from '../../../dist/client/client.js'
import { quotaName, redisQuota } from '../../../dist/client/gate/redis-quota.js'
import { createSharedGate } from '../../../dist/client/gate/shared-gate.js'
import { request } from '../../../dist/client/request.js'

const READERS = 8
const [redisUrl, baseUrl, seconds] = process.argv.slice(2)
const redis = new Redis(redisUrl)
const client = createClient({
  baseUrl,
  apiKey: undefined,
  apiKeyHeader: 'x-service-api-key',
  timeoutMs: 30_000,
  connections: READERS,
})
const { signal } = new AbortController()
setMaxListeners(0, signal)
const counts = { answered: 0, refused: 0 }
const trace = process.env.TRACE !== undefined
const began = performance.now()
const requester = {
  client,
  gate: createSharedGate(redisQuota(redis, quotaName({ baseUrl, apiKey: undefined }))),
  limit: (task) => task(),
  signal,
  onEvent: ({ kind }) => {
    if (kind === 'refused') {
      counts.refused += 1
      if (trace) console.error(((performance.now() - began) / 1000).toFixed(2), 'refused')
    }
  },
}
const page = { method: 'GET', pathAndQuery: '/page', about: 'a page' }
const reader = async () => {
  while (performance.now() - began < Number(seconds) * 1000) {
    await request(requester, page, () => ({}))
    counts.answered += 1
  }
}
await Promise.all(Array.from({ length: READERS }, reader))
await client.close()
redis.disconnect()
console.log(JSON.stringify(counts))
