import type { ExplorerApi } from '../../core/model/api.ts'
import type { Chains } from '../chains.ts'
import type { DataServiceOptions, ServiceRequest, ServiceResponse } from '../data-service.ts'
import { HttpError } from '../http-error.ts'
import { createKeyAuthenticator, createQuotaLimiter } from '../limits.ts'
import type { ExplorerQuirk } from '../quirks.ts'
import { BLOCKSCOUT } from './blockscout.ts'
import { BLOCKSCOUT_BEFORE_9 } from './blockscout-before-9.ts'
import { type Dialect, type ExplorerAction, ExplorerRejection, type RejectionReason } from './dialect.ts'
import { ETHERSCAN } from './etherscan.ts'

const DIALECTS: Readonly<Record<ExplorerApi, Dialect>> = { etherscan: ETHERSCAN, blockscout: BLOCKSCOUT }

const DEVIATIONS: Readonly<Record<ExplorerQuirk, Partial<Dialect>>> = {
  'free-plan': { maxRecords: 1_000 },
  'before-9': BLOCKSCOUT_BEFORE_9,
  'late-internals': { unprocessedBlocks: 10 },
}

/**
 * Creates an explorer API over the chains. Each request names a module and an action in its query. The API key is the
 * parameter `apikey`; requests without a valid key use no quota.
 */
export function createExplorer(
  api: ExplorerApi,
  options: DataServiceOptions,
  chains: Chains,
): (request: ServiceRequest) => Promise<ServiceResponse> {
  const deviations = (options.explorerQuirks ?? []).map((quirk) => DEVIATIONS[quirk])
  const dialect: Dialect = Object.assign({}, DIALECTS[api], ...deviations)
  const idsByListing = new Map<string, readonly number[]>()
  const checkKey = createKeyAuthenticator({ ...options, keyHeader: 'apikey' })
  const checkQuota = createQuotaLimiter(options)
  return async ({ url }) => {
    try {
      const [path = '', ...rest] = url.split('?')
      const query = new URLSearchParams(rest.join('?'))
      const requested = chainIn(path, query, dialect)
      checkQuota(checkKey({ apikey: query.get('apikey') ?? undefined }))
      const action = actionIn(query, dialect)
      const chainId = requested ?? (dialect.requiresChain ? undefined : chains.ids[0])
      if (chainId === undefined || !chains.ids.includes(chainId))
        throw new ExplorerRejection('unsupported-chain')
      const chain = chains.get(chainId)
      const head = Math.min(chain.head(), await chain.last())
      return await action({ query, chain, head, dialect, idsByListing })
    } catch (cause) {
      const reason = reasonOf(cause)
      if (reason === undefined) throw cause
      return dialect.reject(reason, options.quota?.perSecond ?? 0)
    }
  }
}

function reasonOf(cause: unknown): RejectionReason | undefined {
  if (cause instanceof ExplorerRejection) return cause.reason
  return cause instanceof HttpError ? KEY_REASONS[cause.status] : undefined
}

/** Why a key was refused, by status. */
const KEY_REASONS: Readonly<Record<number, RejectionReason>> = {
  401: 'missing-key',
  403: 'wrong-key',
  429: 'too-many-requests',
}

/** The chain in the path or the query; undefined for none. Throws for a path that is not served. */
function chainIn(path: string, query: URLSearchParams, { paths }: Dialect): string | undefined {
  const match = paths.exec(path)
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
