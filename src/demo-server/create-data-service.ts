import { ExportError } from '../core/model/errors.ts'
import { openChains } from './chains.ts'
import type {
  DataServiceHandle,
  DataServiceOptions,
  ServiceRequest,
  ServiceResponse,
} from './data-service.ts'
import { createExplorer } from './explorer/create-explorer.ts'
import { errorResponse, HttpError, jsonResponse, withHeaders } from './http-error.ts'
import { createKeyAuthenticator, createQuotaLimiter, createUnitLimiter } from './limits.ts'
import type { Service } from './operation.ts'
import { OPERATIONS } from './operations.ts'
import { createPageSelector } from './pages.ts'
import { createReindexer } from './reindexer.ts'
import { createReplay, type Replay } from './replay.ts'
import { isForIndex, readCall } from './route.ts'
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
  const { api = 'data-api', clock = Date.now, head } = options
  const registry = createRegistry()
  const dispatcher = openDispatcher(options, registry)
  const currentHead = typeof head === 'function' ? head : () => head ?? Number.MAX_SAFE_INTEGER
  const chains = openChains(options, (id) => (replay?.chainId === id ? replay.head() : currentHead()))
  const replay: Replay | undefined =
    options.replay &&
    createReplay(options, chains, async (chain, blocks) =>
      dispatcher.send(await buildDeliveries(chain, blocks, registry.activeOn(chain.id))),
    )
  const quirks = new Set(options.quirks)
  const reindexer = createReindexer(clock)
  const service = { options, quirks, chains, selectPage: createPageSelector(quirks), reindexer, registry }
  const answer = api === 'data-api' ? createDataApi(service) : createExplorer(api, options, chains)
  let isClosed = false

  return {
    handle: (request) =>
      withErrorResponse(options, async () => {
        if (isClosed) throw new HttpError(503, 'The service is not available: try again later.')
        return answer(request)
      }),
    async advance(blocks = 1) {
      if (replay) return replay.advance(blocks)
      throw new ExportError('USAGE', 'this service has no replay, so its chains cannot grow')
    },
    idle: dispatcher.idle,
    close() {
      isClosed = true
      replay?.close()
      dispatcher.close()
    },
  }
}

/** The quota is that of the key; requests without a valid key use none. The headers of a quota are on every response. */
function createDataApi(service: Service) {
  const { options, chains } = service
  const checkKey = createKeyAuthenticator(options)
  const checkQuota = createQuotaLimiter(options)
  const chargeUnits = createUnitLimiter(options)
  return async (request: ServiceRequest): Promise<ServiceResponse> => {
    if (isForIndex(request)) return jsonResponse(200, createIndexPage(chains.ids))
    const owner = checkKey(request.headers)
    const quotaHeaders = checkQuota(owner)
    const response = await withErrorResponse(options, async () => {
      const { operation, call } = readCall(request, owner)
      const { status = 200, units = 20, run } = operation
      const unitHeaders = chargeUnits(units, owner)
      const body = await run(call, service)
      const response = body === undefined ? { status, headers: {}, body: '' } : jsonResponse(status, body)
      return withHeaders(response, unitHeaders)
    })
    return withHeaders(response, quotaHeaders)
  }
}

/** Turns errors into responses: an `HttpError` into its status, anything else into a 500 without details. */
async function withErrorResponse(
  { onInternalError }: DataServiceOptions,
  work: () => Promise<ServiceResponse>,
): Promise<ServiceResponse> {
  try {
    return await work()
  } catch (cause) {
    if (cause instanceof HttpError) return errorResponse(cause)
    onInternalError?.(cause)
    return errorResponse(new HttpError(500, 'The service failed to answer this request.'))
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
