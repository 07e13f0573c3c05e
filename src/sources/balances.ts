import { type Asset, assetBalanceKey } from '../core/model/asset.ts'
import { ExportError } from '../core/model/errors.ts'
import type { RequestCounts } from './service-access.ts'

/** Kinds of assets in the order of `ASSET_TYPES`. */
export const KINDS = ['native', 'erc20', 'erc721', 'erc1155'] as const
export type Kind = (typeof KINDS)[number]

/** An asset, and how much of it a wallet has. */
export type Held = Asset & { value: bigint }

/** Balances by the key of the asset (`assetBalanceKey`); what is absent is zero. */
export type ServiceBalances = ReadonlyMap<string, Held>

export type BalanceQuery = {
  wallet: string
  /** The block after which the balances are stated; `latest` for kinds of which only current balances are known. */
  block: number | 'latest'
  /** The ERC-20 tokens to ask for. */
  contracts: readonly string[]
}

/** Balances according to the service. Undefined if it lacks the endpoint, or refuses the wallet or the block. */
export type BalanceReader = {
  /** Kinds of which the service reports current balances only. */
  latestOnly: ReadonlySet<Kind>
  read(kind: Kind, query: BalanceQuery): Promise<ServiceBalances | undefined>
  /** The fee that the details of a transaction state; undefined if the service does not report it. */
  readFee(txHash: string): Promise<bigint | undefined>
  /** Whether the service lists a transaction of the wallet from this block on. */
  hasTransactionsFrom(wallet: string, block: number): Promise<boolean>
  /** The first refusal other than 404; undefined if there was none. */
  refusal(): ExportError | undefined
}

/** The balances of a service, opened for one command. */
export type OpenedBalances = {
  reader: BalanceReader
  counts: Readonly<RequestCounts>
  close(): Promise<void>
}

/** This many refused requests of a kind, without a single answer, mean that the service has no such endpoint. */
const MAX_REFUSED = 3

/** Whether the service refuses this request, and may accept others. 401 concerns the key. */
const isRefusal = (error: unknown): error is ExportError =>
  error instanceof ExportError &&
  (error.code === 'REQUEST_REFUSED' || (error.code === 'KEY_REFUSED' && error.status === 403))

export function undefinedIfRefused(error: unknown): undefined {
  if (!isRefusal(error)) throw error
}

/** Runs reads, and turns refusals into undefined. Sends no further requests of a kind that the service lacks. */
export function createAvailability() {
  const answered = new Set<Kind>()
  const refused = new Map<Kind, number>()
  let refusal: ExportError | undefined
  const ifOffered = async (kind: Kind, read: () => Promise<Held[]>): Promise<ServiceBalances | undefined> => {
    if (!answered.has(kind) && (refused.get(kind) ?? 0) >= MAX_REFUSED) return undefined
    try {
      const entries = await read()
      answered.add(kind)
      return new Map(entries.map((entry) => [assetBalanceKey('', entry), entry]))
    } catch (error) {
      if (!isRefusal(error)) throw error
      if (error.status !== 404) refusal ??= error
      refused.set(kind, (refused.get(kind) ?? 0) + 1)
      return undefined
    }
  }
  return { ifOffered, refusal: () => refusal }
}
