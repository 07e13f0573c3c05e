import { setMaxListeners } from 'node:events'
import type { Asset } from '../../core/model/asset.ts'
import { NO_END } from '../../core/model/model.ts'
import { keyHeaderOf } from '../../core/model/service-key.ts'
import { limitConcurrency } from '../../core/platform/limit-concurrency.ts'
import { createClient } from '../../http/http-client.ts'
import { type RequestContext, request } from '../../http/request.ts'
import {
  type BalanceQuery,
  type BalanceReader,
  createAvailability,
  type Held,
  type Kind,
  type OpenedBalances,
} from '../balances.ts'
import { ACCESS_DEFAULTS, type ServiceAccess, startRequests } from '../service-access.ts'
import { isUnprocessed, readQuantity } from './answer.ts'
import { API_KEY_PARAMETER, type Dialect } from './dialect.ts'
import { LISTING_NAMES } from './item.ts'
import { readFirstRecord } from './read-window.ts'
import { explorerRequest } from './requests.ts'

/**
 * Opens the balances that an explorer states: of the coin and of ERC-20 tokens. Most are current ones only.
 *
 * @throws USAGE if no service is named
 */
export async function openBalances(
  dialect: Dialect,
  access: ServiceAccess,
  chain: string,
): Promise<OpenedBalances> {
  const { end, counts, signal, baseUrl, apiKey, ...requests } = await startRequests(access)
  const { signal: untilClosed, close } = abortable(signal)
  const concurrency = access.concurrency ?? ACCESS_DEFAULTS.concurrency
  const client = createClient({
    baseUrl,
    apiKey,
    apiKeyParameter: API_KEY_PARAMETER,
    allowPlainHttp: access.allowPlainHttp,
    apiKeyHeader: access.apiKeyHeader ?? keyHeaderOf(baseUrl),
    timeoutMs: access.timeoutMs ?? ACCESS_DEFAULTS.timeoutMs,
    connections: concurrency,
  })
  const requestContext: RequestContext = {
    ...requests,
    client,
    signal: untilClosed,
    limit: limitConcurrency(concurrency),
    health: { hasResponded: false, lastError: undefined },
    ...(access.retry === undefined ? {} : { retry: access.retry }),
  }
  return {
    reader: createBalanceReader(requestContext, { dialect, chain }),
    counts,
    close: async () => {
      close()
      await client.close()
      await end()
    },
  }
}

/** A signal that `close` aborts too: requests in flight would be retried after the client has been closed. */
function abortable(signal: AbortSignal): { signal: AbortSignal; close: () => void } {
  const closed = new AbortController()
  const either = AbortSignal.any([signal, closed.signal])
  // Every request adds a listener.
  setMaxListeners(0, either)
  return { signal: either, close: () => closed.abort() }
}

type Explorer = { dialect: Dialect; chain: string }

function createBalanceReader(requestContext: RequestContext, explorer: Explorer): BalanceReader {
  const { ifOffered, refusal } = createAvailability()
  const readers = createReaders(requestContext, explorer)
  const latestOnly = new Set<Kind>(
    explorer.dialect.balanceAtBlock === undefined ? ['native', 'erc20'] : ['erc20'],
  )
  return {
    latestOnly,
    read: async (kind, query) => {
      const reader = readers[kind]
      if (reader === undefined || (latestOnly.has(kind) && query.block !== 'latest')) return undefined
      return ifOffered(kind, () => reader(query))
    },
    readFee: async () => undefined,
    hasTransactionsFrom: async (address, from) => {
      const range = { from, to: NO_END }
      const spec = { ...explorer, address, range, order: 'asc', mayBeUnprocessed: true } as const
      const first = LISTING_NAMES.map((listing) =>
        readFirstRecord(requestContext, { ...spec, listing }).catch(undefinedIfUnprocessed),
      )
      return (await Promise.all(first)).some((record) => record !== undefined)
    },
    refusal,
  }
}

/** Explorers that state unprocessed blocks know the coin's balance at a block: internal transactions do not matter. */
function undefinedIfUnprocessed(error: unknown): undefined {
  if (!isUnprocessed(error)) throw error
}

type Readers = Partial<Record<Kind, (query: BalanceQuery) => Promise<Held[]>>>

function createReaders(requestContext: RequestContext, { dialect, chain }: Explorer): Readers {
  const { baseUrl } = requestContext.client
  const ask = (parameters: Readonly<Record<string, string | number>>, wallet: string) => {
    const query = { address: wallet, ...parameters }
    const description = `the balance of wallet ${wallet}`
    const spec = explorerRequest({ dialect, baseUrl, chain, parameters: query, description })
    return request(requestContext, spec, readQuantity)
  }
  return {
    native: async ({ wallet, block }) => {
      const parameters =
        dialect.balanceAtBlock === undefined || block === 'latest'
          ? { module: 'account', action: 'balance', tag: 'latest' }
          : { ...dialect.balanceAtBlock, block }
      return [{ ...NATIVE, value: await ask(parameters, wallet) }]
    },
    erc20: async ({ wallet, contracts }) =>
      Promise.all(
        contracts.map(async (address) => {
          const parameters = {
            module: 'account',
            action: 'tokenbalance',
            contractaddress: address,
            tag: 'latest',
          }
          return { type: 'erc20', address, tokenId: null, value: await ask(parameters, wallet) }
        }),
      ),
  }
}

const NATIVE: Asset = { type: 'native', address: null, tokenId: null }
