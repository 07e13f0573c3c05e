import { openRequestContext, type RequestContextOptions } from '../export/open-request-context.ts'
import { knownRateOf } from '../export/quota.ts'
import type { Plan } from './plan.ts'
import { createRedisRateLimiter } from './rate-limit/redis-rate-limiter.ts'
import type { OpenRun, SharedServer } from './server/shared-server.ts'

type SharedContextOptions = Pick<
  RequestContextOptions,
  'apiKey' | 'allowPlainHttp' | 'limit' | 'signal' | 'stats' | 'checkWait' | 'onNotice'
> & { server: SharedServer; plan: Plan; run: OpenRun }

/** Opens the request context of a run, with the rate limiter that all its machines share. */
export function openSharedRequestContext({ server, plan, run, ...options }: SharedContextOptions) {
  const store = server.rateLimitState(run.quota)
  const rateLimiter = createRedisRateLimiter(store, { knownPerMs: knownRateOf([plan.job]) })
  return openRequestContext(plan.job, { ...options, demoUrl: undefined, rateLimiter, countRequest: () => {} })
}
