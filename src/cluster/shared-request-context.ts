import { type Asking, openRequester } from '../export/open-request-context.ts'
import type { Plan } from './plan.ts'
import { bookedQuota } from './rate-limit/shared-rate-limit-state.ts'
import { createSharedGate } from './rate-limit/shared-rate-limiter.ts'
import type { OpenRun, SharedServer } from './server/shared-server.ts'

type Sharing = Pick<
  Asking,
  'apiKey' | 'allowPlainHttp' | 'limit' | 'signal' | 'figures' | 'noteWait' | 'onNotice'
> & { server: SharedServer; plan: Plan; run: OpenRun }

/** Opens the way to the service of a run, within the quota that all its machines share. */
export function openSharedRequester({ server, plan, run, ...asking }: Sharing) {
  const gate = createSharedGate(bookedQuota(server.book(run.quota)))
  return openRequester(plan.job, { ...asking, demoUrl: undefined, gate, spend: () => {} })
}
