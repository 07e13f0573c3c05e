// One of several processes that share a quota: eight readers request a page repeatedly. Prints JSON with the numbers of
// answered and refused requests, and `began` and `ended`, the times of the first request and the last response in
// milliseconds since 1970.
// Usage: node request-within-quota.js QUEUE_URL SERVICE_URL SECONDS
import { setMaxListeners } from 'node:events'
import { createRedisRateLimiter, quotaKey } from '../../../dist/cluster/rate-limit/redis-rate-limiter.js'
import { openServer } from '../../../dist/cluster/server.js'
import { createClient } from '../../../dist/http/http-client.js'
import { request } from '../../../dist/http/request.js'

const READERS = 8
const [queue, baseUrl, seconds] = process.argv.slice(2)
const server = await openServer({ url: queue })
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
const began = Date.now()
const requestContext = {
  client,
  rateLimiter: createRedisRateLimiter(server.rateLimitState(quotaKey({ baseUrl, apiKey: undefined }))),
  limit: (task) => task(),
  signal,
  onEvent: ({ kind }) => {
    if (kind === 'throttled') {
      counts.refused += 1
      if (trace) console.error(((Date.now() - began) / 1000).toFixed(2), 'throttled')
    }
  },
}
const page = { method: 'GET', pathAndQuery: '/page', description: 'a page' }
const reader = async () => {
  while (Date.now() - began < Number(seconds) * 1000) {
    await request(requestContext, page, () => ({}))
    counts.answered += 1
  }
}
await Promise.all(Array.from({ length: READERS }, reader))
const ended = Date.now()
await client.close()
await server.close()
console.log(JSON.stringify({ ...counts, began, ended }))
