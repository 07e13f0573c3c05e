import { ExportError, type FailureCode } from '../../core/model/errors.ts'
import { isAtomicListing, walletOf } from '../../core/model/listings.ts'
import type { RefusedWallet, RunStats } from '../../core/model/run-stats.ts'
import { type FetchContext, openListing } from './reading.ts'

/** The wallets of a run whose listing the service refuses while it serves others. */
export type Refusals = {
  /** Whether a listing, or its wallet, is refused. */
  has(listing: string): boolean
  /** Must be called when a page of a listing has arrived. */
  recordResponse(listing: string): void
  /** Records the refusal of a listing. Throws the error if it does not concern this wallet only. */
  recordRefusal(listing: string, error: unknown): Promise<void>
  /**
   * Ensures that the service serves other wallets, from each endpoint that refused one. If no page has arrived from it
   * since the last refusal, requests one, and throws if that fails.
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
  const refused = new Map<string, string>()
  const known = new Map(context.stats.refused.map(({ address, error }) => [address, error]))
  // Whether a service lists transactions says nothing about its listing of atomic transactions.
  const kinds = [newKind(), newKind()] as const
  const kindOf = (listing: string) => kinds[isAtomicListing(listing) ? 1 : 0]
  const has = (listing: string) => refused.has(listing) || known.has(walletOf(listing))
  const confirmKind = async (kind: ListingKind) => {
    const names = [...context.listings.keys()].filter((name) => kindOf(name) === kind)
    if (kind.unconfirmed > 0)
      await requireServiceResponds(context, { refused: { has }, names, first: kind.first })
    kind.unconfirmed = 0
  }
  return {
    has,
    recordResponse: (listing) => {
      kindOf(listing).unconfirmed = 0
    },
    confirm: async () => {
      for (const kind of kinds) await confirmKind(kind)
      const all = new Map(known)
      // The refusal of a wallet's own listing takes precedence, whichever came first.
      const sorted = [...refused].sort(([a], [b]) => Number(isAtomicListing(a)) - Number(isAtomicListing(b)))
      for (const [name, error] of sorted)
        if (!all.has(walletOf(name))) all.set(walletOf(name), describeRefusal(name, error))
      return [...all].map(([address, error]) => ({ address, error }))
    },
    recordRefusal: async (listing, error) => {
      if (!isRefusal(error)) throw error
      const kind = kindOf(listing)
      kind.first ??= error
      refused.set(listing, refusalMessage(error))
      kind.unconfirmed += 1
      if (kind.unconfirmed >= MAX_UNCONFIRMED) await confirmKind(kind)
    },
  }
}

/** The listings of one endpoint: the first refusal, and the number of them since a listing was served. */
type ListingKind = { first: ExportError | undefined; unconfirmed: number }

const newKind = (): ListingKind => ({ first: undefined, unconfirmed: 0 })

/** The service's words, with the listing that they concern unless it is that of the wallet's transactions. */
export const describeRefusal = (listing: string, error: string) =>
  isAtomicListing(listing) ? `atomic transactions: ${error}` : error

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
  { job, listings, requestContext }: Omit<RefusalContext, 'stats'>,
  { refused, first, names = [...listings.keys()] }: UnconfirmedRefusals,
): Promise<void> {
  const other = names.find((wallet) => !refused.has(wallet))
  if (other === undefined) throw first
  const range = { from: job.startBlock, to: job.startBlock + 1 }
  await openListing(job, other).firstKeys(requestContext, range)
}

type UnconfirmedRefusals = {
  refused: Pick<ReadonlyMap<string, string>, 'has'>
  first: ExportError | undefined
  /** The listings of which one must be served. @default all */
  names?: readonly string[]
}

/** The message without the name of the request. */
export function refusalMessage({ message }: ExportError): string {
  return message.slice(Math.max(0, message.indexOf('the service answered')))
}
