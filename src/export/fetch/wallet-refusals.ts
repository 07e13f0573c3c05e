import { ExportError, type FailureCode } from '../../core/model/errors.ts'
import type { RefusedWallet, RunStats } from '../../core/model/run-stats.ts'
import { source } from '../../sources/index.ts'
import type { FetchContext } from './fetch-context.ts'

/** The wallets of a run whose listing the service refuses while it serves others. */
export type Refusals = {
  has(wallet: string): boolean
  /** Must be called when a page of any wallet has arrived. */
  recordResponse(): void
  /** Records a refusal. Throws the error if it does not concern this wallet only. */
  recordRefusal(wallet: string, error: unknown): Promise<void>
  /**
   * Ensures that the service serves other wallets. If no page has arrived since the last refusal, requests one,
   * and throws if that fails.
   *
   * @returns all refused wallets
   */
  confirm(): Promise<readonly RefusedWallet[]>
}

/** Statuses that may concern a single wallet. Others (401, 402, 405, redirects) concern all wallets. */
const WALLET_REFUSAL_STATUSES: ReadonlySet<number | undefined> = new Set([400, 403, 404, 410, 413, 422, 451])

/**
 * Codes of errors that may concern a single wallet. A 403 that states an exhausted quota has another code.
 */
export const REFUSAL_CODES = ['REQUEST_REFUSED', 'KEY_REFUSED'] as const
const REFUSAL_CODE_SET: ReadonlySet<FailureCode> = new Set(REFUSAL_CODES)

/** Number of consecutive refusals after which a request checks whether the service serves any wallet. */
const MAX_UNCONFIRMED = 20

/** The part of a fetch context that refusals need. */
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

/** Whether an error may concern a single wallet. */
export function isRefusal(error: unknown): error is ExportError {
  return (
    error instanceof ExportError &&
    REFUSAL_CODE_SET.has(error.code) &&
    WALLET_REFUSAL_STATUSES.has(error.status)
  )
}

/** Requests a page of a wallet that is not refused. Throws the first refusal if there is no such wallet. */
export async function requireServiceResponds(
  context: Omit<RefusalContext, 'stats'>,
  { refused, first }: { refused: ReadonlyMap<string, string>; first: ExportError | undefined },
): Promise<void> {
  const { job, listings, requestContext } = context
  const other = [...listings.keys()].find((wallet) => !refused.has(wallet))
  if (other === undefined) throw first
  const range = { from: job.startBlock, to: job.startBlock + 1 }
  const { chain, internals } = job
  await source.openWallet({ chain, address: other, internals }).firstKeys(requestContext, range)
}

/** The message without the name of the request. */
export function refusalMessage({ message }: ExportError): string {
  return message.slice(Math.max(0, message.indexOf('the service answered')))
}
