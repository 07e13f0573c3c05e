import { bookedQuota } from '../client/gate/quota-book.ts'
import { createSharedGate } from '../client/gate/shared-gate.ts'
import { type Asking, openRequester } from '../client/open-requester.ts'
import type { Plan } from './plan.ts'
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
