import { ExportError, type FailureCode } from '../../core/model/errors.ts'
import type { RefusedWallet, RunStats } from '../../core/model/run-stats.ts'
import { fetchPage } from '../../sources/data-api/pages/read-token-chain.ts'
import type { FetchContext } from './fetch-context.ts'

/** The wallets of a run whose listing the service refused while it answers others. */
export type Refusals = {
  has(wallet: string): boolean
  /** Takes note that a page of another wallet arrived. */
  recordResponse(): void
  /** Takes note of a refusal. Throws the error where it does not concern this wallet alone. */
  recordRefusal(wallet: string, error: unknown): Promise<void>
  /** Makes sure that the service answers other wallets: asks it where it has not since the last refusal. Throws otherwise. */
  confirm(): Promise<readonly RefusedWallet[]>
}

/** A refusal of the key (401), of payment, of the method or by a redirect concerns every wallet. */
const WALLET_REFUSAL_STATUSES: ReadonlySet<number | undefined> = new Set([400, 403, 404, 410, 413, 422, 451])

/** Not 403 where it states a quota. */
export const REFUSAL_CODES = ['REQUEST_REFUSED', 'KEY_REFUSED'] as const
const REFUSAL_CODE_SET: ReadonlySet<FailureCode> = new Set(REFUSAL_CODES)

/** So many wallets are refused in a row before the service is asked whether it answers any. */
const MAX_UNCONFIRMED = 20

/** What refusals are noted for. */
type RefusalContext = Pick<FetchContext, 'job' | 'listings' | 'requestContext'> & {
  stats: Pick<RunStats, 'refused'>
}

export function createRefusals(context: RefusalContext): Refusals {
  const refused = new Map(context.stats.refused.map(({ address, error }) => [address, error]))
  let first: ExportError | undefined
  let unconfirmed = 0
  const recordResponse = () => {
    unconfirmed = 0
  }
  const confirm = async () => {
    if (unconfirmed > 0) await requireServiceResponds(context, { refused, first })
    recordResponse()
    return [...refused].map(([address, error]) => ({ address, error }))
  }
  return {
    has: (wallet) => refused.has(wallet),
    recordResponse,
    confirm,
    recordRefusal: async (wallet, error) => {
      if (!isRefusal(error)) throw error
      first ??= error
      refused.set(wallet, refusalMessage(error))
      unconfirmed += 1
      if (unconfirmed >= MAX_UNCONFIRMED) await confirm()
    },
  }
}

/** Whether an error may concern one wallet alone. */
export function isRefusal(error: unknown): error is ExportError {
  return (
    error instanceof ExportError &&
    REFUSAL_CODE_SET.has(error.code) &&
    WALLET_REFUSAL_STATUSES.has(error.status)
  )
}

/** Asks for a page of a wallet that is not refused; throws the first refusal where there is none. */
export async function requireServiceResponds(
  context: Omit<RefusalContext, 'stats'>,
  { refused, first }: { refused: ReadonlyMap<string, string>; first: ExportError | undefined },
): Promise<void> {
  const { job, listings, requestContext } = context
  const other = [...listings.keys()].find((wallet) => !refused.has(wallet))
  if (other === undefined) throw first
  const range = { from: job.startBlock, to: job.startBlock + 1 }
  const spec = {
    chain: job.chain,
    address: other,
    range,
    order: 'asc',
    cutMs: Number.POSITIVE_INFINITY,
  } as const
  await fetchPage(requestContext, { ...spec, pageSize: 1 }, undefined)
}

/** What the service said, without the name of the request. */
export function refusalMessage({ message }: ExportError): string {
  return message.slice(Math.max(0, message.indexOf('the service answered')))
}
