import type { ExplorerApi } from '../../core/model/api.ts'
import { createKeyAuthenticator } from '../authenticate-key.ts'
import type { DataServiceOptions, ServiceRequest, ServiceResponse } from '../data-service.ts'
import { HttpError } from '../http-error.ts'
import type { Chains } from '../open-chains.ts'
import { createQuotaLimiter } from '../quota-limiter.ts'
import { BLOCKSCOUT } from './blockscout.ts'
import { BLOCKSCOUT_BEFORE_9 } from './blockscout-before-9.ts'
import type { Dialect, ExplorerAction } from './dialect.ts'
import { ETHERSCAN } from './etherscan.ts'
import type { ExplorerQuirk } from './quirks.ts'
import { createRecordIndex } from './record-index.ts'
import { ExplorerRejection } from './rejection.ts'

const DIALECTS: Readonly<Record<ExplorerApi, Dialect>> = { etherscan: ETHERSCAN, blockscout: BLOCKSCOUT }

/**
 * Creates an explorer API over the chains. Each request names a module and an action in its query. The API key is the
 * parameter `apikey`; requests without a valid key use no quota.
 */
export function createExplorer(
  api: ExplorerApi,
  { options, chains }: { options: DataServiceOptions; chains: Chains },
): (request: ServiceRequest) => Promise<ServiceResponse> {
  const dialect = dialectOf(api, options)
  const index = createRecordIndex(dialect)
  const admit = createAdmission(options)
  return async (request) => {
    try {
      const { path, query } = splitUrl(request)
      const requested = chainIn(path, { query, dialect })
      admit(query)
      const action = actionIn(query, dialect)
      const chainId = requested ?? (dialect.requiresChain ? undefined : chains.ids[0])
      if (chainId === undefined || !chains.ids.includes(chainId))
        throw new ExplorerRejection('unsupported-chain')
      return await action({ query, chain: chains.get(chainId), index, dialect })
    } catch (thrown) {
      if (!(thrown instanceof ExplorerRejection)) throw thrown
      return dialect.reject(thrown.reason, { perSecond: options.quota?.perSecond ?? 0 })
    }
  }
}

function dialectOf(api: ExplorerApi, { explorerQuirks = [] }: DataServiceOptions): Dialect {
  return Object.assign({}, DIALECTS[api], ...explorerQuirks.map((quirk) => DEVIATIONS[quirk]))
}

const DEVIATIONS: Readonly<Record<ExplorerQuirk, Partial<Dialect>>> = {
  'free-plan': { maxRecords: 1_000 },
  'before-9': BLOCKSCOUT_BEFORE_9,
  'late-internals': { unprocessedBlocks: 10 },
}

function splitUrl({ url }: ServiceRequest) {
  const [path = '', ...query] = url.split('?')
  return { path, query: new URLSearchParams(query.join('?')) }
}

/** The chain in the path or the query; undefined for none. Throws for a path that is not served. */
function chainIn(
  path: string,
  { query, dialect }: { query: URLSearchParams; dialect: Dialect },
): string | undefined {
  const match = dialect.paths.exec(path)
  if (!match) throw new ExplorerRejection('not-found')
  return match.groups?.chain ?? query.get('chainid') ?? query.get('chain_id') ?? undefined
}

function actionIn(query: URLSearchParams, { modules }: Dialect): ExplorerAction {
  const actions = lookUp(modules, query.get('module'))
  if (actions === undefined) throw new ExplorerRejection('unknown-module')
  const action = lookUp(actions, query.get('action'))
  if (action === undefined) throw new ExplorerRejection('unknown-action')
  return action
}

function lookUp<Value>(values: Readonly<Record<string, Value>>, name: string | null): Value | undefined {
  return name !== null && Object.hasOwn(values, name) ? values[name] : undefined
}

/** Checks the key of a query, then takes a request from the quota of that key. */
function createAdmission(options: DataServiceOptions): (query: URLSearchParams) => void {
  const checkKey = createKeyAuthenticator({ ...options, keyHeader: 'apikey' })
  const checkQuota = createQuotaLimiter(options)
  return (query) => {
    const key = withRejection(() => checkKey({ apikey: query.get('apikey') ?? undefined }))
    if (checkQuota(key).error) throw new ExplorerRejection('too-many-requests')
  }
}

function withRejection(checkKey: () => number): number {
  try {
    return checkKey()
  } catch (thrown) {
    if (!(thrown instanceof HttpError)) throw thrown
    throw new ExplorerRejection(thrown.status === 401 ? 'missing-key' : 'wrong-key')
  }
}
