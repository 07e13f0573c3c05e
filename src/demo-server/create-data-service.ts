import { ExportError } from '../core/model/errors.ts'
import { createKeyCheck } from './authenticate-key.ts'
import { createOperations } from './call-operation.ts'
import type { DataServiceHandle, DataServiceOptions, ServiceAnswer, ServiceRequest } from './data-service.ts'
import { answerJson, answerRefusal, Refusal } from './http-error.ts'
import { createWelcome } from './index-page.ts'
import { openChains } from './open-chains.ts'
import { createQuotaGate, type QuotaVerdict } from './quota-limiter.ts'
import { createReplay, type Replay } from './replay.ts'
import { readRoute } from './route.ts'
import { afterDelay } from './timers.ts'
import { announceBlocks } from './webhooks/build-deliveries.ts'
import { openPostOffice } from './webhooks/open-dispatcher.ts'
import { createRegistry } from './webhooks/registry.ts'

/**
 * Creates the embedded data service: every operation of the interface (section 4) over the chains in `chains/`, and
 * a welcome page at `/`, which needs no key and costs no quota.
 *
 * Nothing is read before the first request that needs it. Page tokens, webhooks, secrets and what was reindexed live
 * as long as this service. Fails with `USAGE` where an option makes no sense.
 */
export function createDataService(options: DataServiceOptions = {}): DataServiceHandle {
  const door = createDoor(options)
  const registry = createRegistry()
  const postOffice = openPostOffice(options, registry)
  const { replay, chains } = openGrowingChains(options, { registry, postOffice })
  const operate = createOperations(options, { chains, registry })
  const state = { closed: false }

  const enter = async (request: ServiceRequest): Promise<ServiceAnswer> => {
    refuseBrokenDown(request, { ...options, ...state })
    const route = readRoute(request)
    if (route === 'welcome') return answerJson(200, createWelcome(chains.ids))
    const { key, verdict } = door(request)
    const answer = verdict.refusal
      ? answerRefusal(verdict.refusal)
      : await answered(options, async () => operate(route(), key))
    return { ...answer, headers: { ...answer.headers, ...verdict.headers } }
  }

  return {
    answer: (request) => answered(options, () => enter(request)),
    async advance(blocks = 1) {
      if (replay) return replay.advance(blocks)
      throw new ExportError('USAGE', 'this service has no replay: its chains stand still')
    },
    idle: postOffice.idle,
    close() {
      state.closed = true
      replay?.close()
      postOffice.close()
    },
  }
}

type Tools = {
  registry: ReturnType<typeof createRegistry>
  postOffice: ReturnType<typeof openPostOffice>
}

/** Opens the chains, one of which may grow: every new block is announced to the webhooks. */
function openGrowingChains(options: DataServiceOptions, { registry, postOffice }: Tools) {
  const { head, after = afterDelay, onInternalError = () => {} } = options
  const headNow = typeof head === 'function' ? head : () => head ?? Number.MAX_SAFE_INTEGER
  const chains = openChains(options, (id) => (replay && replay.chainId === id ? replay.head() : headNow()))
  const replay: Replay | undefined =
    options.replay &&
    createReplay(options.replay, {
      chains,
      onGrown: async (chain, blocks) =>
        postOffice.send(await announceBlocks(chain, blocks, registry.activeOn(chain.id))),
      after,
      onError: onInternalError,
    })
  return { chains, replay }
}

/** Checks the key, then spends the quota of that key: who has no key spends nobody's quota. */
function createDoor(options: DataServiceOptions): (request: ServiceRequest) => Entry {
  const checkKey = createKeyCheck(options)
  const spend = createQuotaGate(options)
  return (request) => {
    const key = checkKey(request.headers)
    return { key, verdict: spend(key) }
  }
}

type Entry = { readonly key: number; readonly verdict: QuotaVerdict }

function refuseBrokenDown(
  request: ServiceRequest,
  { closed, outage }: Pick<DataServiceOptions, 'outage'> & { closed: boolean },
): void {
  const status = closed ? 503 : outage?.(request)
  if (status !== undefined) throw new Refusal(status, BROKEN[status])
}

const BROKEN = {
  500: 'The service failed to answer this request.',
  502: 'The service behind this gateway gave no good answer.',
  503: 'The service is not available now: ask again later.',
} as const

/** Turns whatever is thrown into an answer: a refusal into its status, anything else into a 500 without details. */
async function answered(
  { onInternalError }: DataServiceOptions,
  work: () => Promise<ServiceAnswer>,
): Promise<ServiceAnswer> {
  try {
    return await work()
  } catch (thrown) {
    if (thrown instanceof Refusal) return answerRefusal(thrown)
    onInternalError?.(thrown)
    return answerRefusal(new Refusal(500, BROKEN[500]))
  }
}
