import { ExportError } from '../core/model/errors.ts'
import { createKeyAuthenticator } from './authenticate-key.ts'
import { createCallOperation } from './call-operation.ts'
import { createUnitLimiter } from './compute-unit-limiter.ts'
import type {
  DataServiceHandle,
  DataServiceOptions,
  ServiceRequest,
  ServiceResponse,
} from './data-service.ts'
import { createExplorer } from './explorer/create-explorer.ts'
import { errorResponse, HttpError, jsonResponse } from './http-error.ts'
import { type Chains, openChains } from './open-chains.ts'
import { OPERATIONS } from './operations.ts'
import { createQuotaLimiter, type QuotaResult } from './quota-limiter.ts'
import { createReplay, type Replay } from './replay.ts'
import { type Call, matchRoute } from './route.ts'
import { scheduleWithTimer } from './timers.ts'
import { buildDeliveries } from './webhooks/build-deliveries.ts'
import { openDispatcher } from './webhooks/open-dispatcher.ts'
import { createRegistry } from './webhooks/registry.ts'

/**
 * Creates the embedded data service: every operation of the interface (section 4) over the chains in `chains/`, and
 * an index page at `/`, which requires no key and is not counted against the quota. With the option `api`, it speaks an
 * explorer API over the same chains instead.
 *
 * A chain is read at the first request that needs it. Page tokens, webhooks, secrets and reindexed metadata are kept in
 * memory, for the lifetime of this object.
 *
 * @throws `USAGE` if an option is invalid
 *
 * @example
 * const { url, close } = await listen(createDataService({ keys: ['secret'], quota: { perSecond: 40 } }))
 */
export function createDataService(options: DataServiceOptions = {}): DataServiceHandle {
  const authenticate = createAuthenticate(options)
  const registry = createRegistry()
  const dispatcher = openDispatcher(options, registry)
  const { replay, chains } = openReplayedChains(options, { registry, dispatcher })
  const explorer = createExplorerOf(options, chains)
  const callOperation = createCallOperation(options, { chains, registry })
  const chargeUnits = createUnitLimiter(options)
  const state = { closed: false }

  const handleRequest = async (request: ServiceRequest): Promise<ServiceResponse> => {
    throwIfUnavailable(request, { ...options, ...state })
    if (explorer) return explorer(request)
    const route = matchRoute(request)
    if (route === 'index') return jsonResponse(200, createIndexPage(chains.ids))
    const { key, quota } = authenticate(request)
    const response = quota.error
      ? errorResponse(quota.error)
      : await withErrorResponse(options, async () => answer(route(), key))
    return { ...response, headers: { ...response.headers, ...quota.headers } }
  }
  const answer = async (call: Call, key: number): Promise<ServiceResponse> => {
    const units = chargeUnits(call.operation, key)
    const response = units.error ? errorResponse(units.error) : await callOperation(call, key)
    return { ...response, headers: { ...response.headers, ...units.headers } }
  }

  return {
    handle: (request) => withErrorResponse(options, () => handleRequest(request)),
    async advance(blocks = 1) {
      if (replay) return replay.advance(blocks)
      throw new ExportError('USAGE', 'this service has no replay, so its chains cannot grow')
    },
    idle: dispatcher.idle,
    close() {
      state.closed = true
      replay?.close()
      dispatcher.close()
    },
  }
}

function createExplorerOf(options: DataServiceOptions, chains: Chains) {
  const { api = 'data-api' } = options
  return api === 'data-api' ? undefined : createExplorer(api, { options, chains })
}

type Tools = {
  registry: ReturnType<typeof createRegistry>
  dispatcher: ReturnType<typeof openDispatcher>
}

/** Opens the chains. With a replay, one of them grows, and every new block is delivered to the webhooks. */
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

/** Checks the key, then takes a token from the quota of that key. Requests without a valid key use no quota. */
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
  502: 'The gateway received an invalid response from the service.',
  503: 'The service is not available: try again later.',
} as const

/** Turns errors into responses: an `HttpError` into its status, anything else into a 500 without details. */
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

/** Creates the body of `/`: a description of the service, its operations and example requests. */
function createIndexPage(chainIds: readonly string[]) {
  return {
    message: 'The embedded data service of walletlake, with small chains of real contracts.',
    chains: chainIds,
    balances: BALANCES,
    endpoints: Object.values(OPERATIONS).map(({ method, path, takes }) => ({
      path: `${method} ${path}`,
      ...(takes.length === 0 ? {} : { [method === 'GET' ? 'parameters' : 'body']: takes }),
    })),
    wallets: EXAMPLE_WALLETS.map(([chainId, about, address]) => ({
      about,
      url: `${WALLET_PATH.replace('{chainId}', chainId).replace('{address}', address)}?pageSize=2`,
    })),
  }
}

const BALANCES =
  'Each of the 50 accounts of chain 43114 started with 10,000 AVAX. The genesis allocation is not in any transaction: the movements of an account sum to its balance minus 10,000 AVAX.'

const WALLET_PATH = OPERATIONS.listWallet.path

const EXAMPLE_WALLETS = [
  ['43114', 'the most active wallet: 2,042 transactions', '0xa548f4431ec271b95b8BDf86c85147C3bBBC5A4f'],
  ['43114', 'deploys contracts and mints tokens', '0x58A57ed9d8d624cBD12e2C467D34787555bB1b25'],
  ['43114', 'received internal transactions only', '0x48A0B31dD707cFb02cbC8706fE88C676630A796b'],
  ['43114', 'holds NFTs only', '0x33ed23F86F8e72507A26748dC0A450590D7c679B'],
  ['43114', 'has no transactions', '0xFD524703A3B2929DE26b5ae154243d3202106b0e'],
  ['1', 'Tether USD, a contract of Ethereum mainnet', '0xdAC17F958D2ee523a2206206994597C13D831ec7'],
] as const
