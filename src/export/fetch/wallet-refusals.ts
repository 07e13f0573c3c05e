import { ExportError, type FailureCode } from '../../core/model/errors.ts'
import type { Figures, RefusedWallet } from '../../core/model/run-stats.ts'
import { askPage } from '../../sources/data-api/pages/read-token-chain.ts'
import type { Crawl } from './fetch-context.ts'

/** The wallets of a run whose listing the service refused while it answers others. */
export type Refusals = {
  has(wallet: string): boolean
  /** Takes note that a page of another wallet arrived. */
  answered(): void
  /** Takes note of a refusal. Throws the error where it does not concern this wallet alone. */
  add(wallet: string, error: unknown): Promise<void>
  /** Makes sure that the service answers other wallets: asks it where it has not since the last refusal. Throws otherwise. */
  confirm(): Promise<readonly RefusedWallet[]>
}

/** A refusal of the key (401), of payment, of the method or by a redirect concerns every wallet. */
const STATUSES: ReadonlySet<number | undefined> = new Set([400, 403, 404, 410, 413, 422, 451])

/** Not 403 where it states a quota. */
export const REFUSAL_CODES = ['REQUEST_REFUSED', 'KEY_REFUSED'] as const
const CODES: ReadonlySet<FailureCode> = new Set(REFUSAL_CODES)

/** So many wallets are refused in a row before the service is asked whether it answers any. */
const MOST_UNCONFIRMED = 20

/** What refusals are noted for. */
type Refusing = Pick<Crawl, 'job' | 'listings' | 'requester'> & { figures: Pick<Figures, 'refused'> }

export function createRefusals(context: Refusing): Refusals {
  const refused = new Map(context.figures.refused.map(({ address, error }) => [address, error]))
  let first: ExportError | undefined
  let unconfirmed = 0
  const answered = () => {
    unconfirmed = 0
  }
  const confirm = async () => {
    if (unconfirmed > 0) await requireAnswer(context, { refused, first })
    answered()
    return [...refused].map(([address, error]) => ({ address, error }))
  }
  return {
    has: (wallet) => refused.has(wallet),
    answered,
    confirm,
    add: async (wallet, error) => {
      if (!isRefusal(error)) throw error
      first ??= error
      refused.set(wallet, wordsOfRefusal(error))
      unconfirmed += 1
      if (unconfirmed >= MOST_UNCONFIRMED) await confirm()
    },
  }
}

/** Whether an error may concern one wallet alone. */
export function isRefusal(error: unknown): error is ExportError {
  return error instanceof ExportError && CODES.has(error.code) && STATUSES.has(error.status)
}

/** Asks for a page of a wallet that is not refused; throws the first refusal where there is none. */
export async function requireAnswer(
  context: Omit<Refusing, 'figures'>,
  { refused, first }: { refused: ReadonlyMap<string, string>; first: ExportError | undefined },
): Promise<void> {
  const { job, listings, requester } = context
  const other = [...listings.keys()].find((wallet) => !refused.has(wallet))
  if (other === undefined) throw first
  const range = { from: job.startBlock, to: job.startBlock + 1 }
  const ask = {
    chain: job.chain,
    address: other,
    range,
    order: 'asc',
    cutMs: Number.POSITIVE_INFINITY,
  } as const
  await askPage(requester, { ...ask, pageSize: 1 }, undefined)
}

/** What the service said, without the name of the request. */
export function wordsOfRefusal({ message }: ExportError): string {
  return message.slice(Math.max(0, message.indexOf('the service answered')))
}
