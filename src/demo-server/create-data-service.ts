import { ExportError } from '../core/model/errors.ts'
import { createKeyAuthenticator } from './authenticate-key.ts'
import { createCallOperation } from './call-operation.ts'
import type {
  DataServiceHandle,
  DataServiceOptions,
  ServiceRequest,
  ServiceResponse,
} from './data-service.ts'
import { errorResponse, HttpError, jsonResponse } from './http-error.ts'
import { createIndexPage } from './index-page.ts'
import { openChains } from './open-chains.ts'
import { createQuotaLimiter, type QuotaResult } from './quota-limiter.ts'
import { createReplay, type Replay } from './replay.ts'
import { matchRoute } from './route.ts'
import { scheduleWithTimer } from './timers.ts'
import { buildDeliveries } from './webhooks/build-deliveries.ts'
import { openDispatcher } from './webhooks/open-dispatcher.ts'
import { createRegistry } from './webhooks/registry.ts'

/**
 * Creates the embedded data service: every operation of the interface (section 4) over the chains in `chains/`, and
 * a welcome page at `/`, which needs no key and costs no quota.
 *
 * Nothing is read before the first request that needs it. Page tokens, webhooks, secrets and what was reindexed live
 * as long as this service. Fails with `USAGE` where an option makes no sense.
 */
export function createDataService(options: DataServiceOptions = {}): DataServiceHandle {
  const authenticate = createAuthenticate(options)
  const registry = createRegistry()
  const dispatcher = openDispatcher(options, registry)
  const { replay, chains } = openReplayedChains(options, { registry, dispatcher })
  const callOperation = createCallOperation(options, { chains, registry })
  const state = { closed: false }

  const handleRequest = async (request: ServiceRequest): Promise<ServiceResponse> => {
    throwIfUnavailable(request, { ...options, ...state })
    const route = matchRoute(request)
    if (route === 'index') return jsonResponse(200, createIndexPage(chains.ids))
    const { key, quota } = authenticate(request)
    const response = quota.error
      ? errorResponse(quota.error)
      : await withErrorResponse(options, async () => callOperation(route(), key))
    return { ...response, headers: { ...response.headers, ...quota.headers } }
  }

  return {
    handle: (request) => withErrorResponse(options, () => handleRequest(request)),
    async advance(blocks = 1) {
      if (replay) return replay.advance(blocks)
      throw new ExportError('USAGE', 'this service has no replay: its chains stand still')
    },
    idle: dispatcher.idle,
    close() {
      state.closed = true
      replay?.close()
      dispatcher.close()
    },
  }
}

type Tools = {
  registry: ReturnType<typeof createRegistry>
  dispatcher: ReturnType<typeof openDispatcher>
}

/** Opens the chains, one of which may grow: every new block is announced to the webhooks. */
function openReplayedChains(options: DataServiceOptions, { registry, dispatcher }: Tools) {
  const { head, scheduleAfter = scheduleWithTimer, onInternalError = () => {} } = options
  const currentHead = typeof head === 'function' ? head : () => head ?? Number.MAX_SAFE_INTEGER
  const chains = openChains(options, (id) =>
    replay && replay.chainId === id ? replay.head() : currentHead(),
  )
  const replay: Replay | undefined =
    options.replay &&
    createReplay(options.replay, {
      chains,
      onBlocksAdded: async (chain, blocks) =>
        dispatcher.send(await buildDeliveries(chain, blocks, registry.activeOn(chain.id))),
      scheduleAfter,
      onError: onInternalError,
    })
  return { chains, replay }
}

/** Checks the key, then spends the quota of that key: who has no key spends nobody's quota. */
function createAuthenticate(options: DataServiceOptions): (request: ServiceRequest) => Authenticated {
  const checkKey = createKeyAuthenticator(options)
  const checkQuota = createQuotaLimiter(options)
  return (request) => {
    const key = checkKey(request.headers)
    return { key, quota: checkQuota(key) }
  }
}

type Authenticated = { readonly key: number; readonly quota: QuotaResult }

function throwIfUnavailable(
  request: ServiceRequest,
  { closed, outage }: Pick<DataServiceOptions, 'outage'> & { closed: boolean },
): void {
  const status = closed ? 503 : outage?.(request)
  if (status !== undefined) throw new HttpError(status, OUTAGE_MESSAGES[status])
}

const OUTAGE_MESSAGES = {
  500: 'The service failed to answer this request.',
  502: 'The service behind this gateway gave no good answer.',
  503: 'The service is not available now: ask again later.',
} as const

/** Turns whatever is thrown into an answer: a refusal into its status, anything else into a 500 without details. */
async function withErrorResponse(
  { onInternalError }: DataServiceOptions,
  work: () => Promise<ServiceResponse>,
): Promise<ServiceResponse> {
  try {
    return await work()
  } catch (thrown) {
    if (thrown instanceof HttpError) return errorResponse(thrown)
    onInternalError?.(thrown)
    return errorResponse(new HttpError(500, OUTAGE_MESSAGES[500]))
  }
}
