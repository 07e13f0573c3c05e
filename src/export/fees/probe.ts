import type { FeeCheckpoint } from '../../checkpoint/fees.ts'
import { ExportError } from '../../core/model/errors.ts'
import { type FeeDetails, feeKey, type ListedPrice } from '../../core/model/fees.ts'
import type { OpenFee } from '../../transform/staged/page-index.ts'

/** Requests the details of one transaction; undefined if the service has none. */
export type RequestFee = (transaction: OpenFee) => Promise<FeeDetails | undefined>

/**
 * A probe costs at most this many requests. One is usually enough, but a transaction whose fee cap equals the
 * price that was paid proves nothing.
 */
export const MAX_PROBES = 5

/** Further requests of a probe if the details of all transactions would exceed the budget. */
export const MAX_FURTHER_PROBES = 50

/** Finds out whether the listed gas price is the price that was paid, or the fee cap. */
export type Probe = {
  /** Adds a candidate and starts the probe in the background, unless it is finished. */
  offer(transaction: OpenFee): void
  /** Resolves when all candidates so far are tried, or the result is known. Rejects if the run must end. */
  done(): Promise<void>
  /** What this run has learned; the checkpoint keeps it only if it is proven. */
  result(): ListedPrice | undefined
  /** Whether another candidate would be tried. */
  isOpen(): boolean
  /** Allows `MAX_FURTHER_PROBES` more requests. */
  extend(): void
}

/**
 * Opens a probe. A service that has never returned details, and answers only with errors, counts as one without
 * details in this run; `onUnavailable` receives the error.
 */
export function openProbe(
  checkpoint: FeeCheckpoint,
  requestFee: RequestFee,
  onUnavailable: (error: ExportError) => void,
): Probe {
  const candidates: OpenFee[] = []
  const tried = new Set<string>()
  let [requested, answered, limit] = [0, 0, MAX_PROBES]
  let running: Promise<void> | undefined
  let failure: unknown
  let isUnavailable = false
  const proven = () => checkpoint.fees.listedPrice
  const isOpen = () => proven() === undefined && failure === undefined && !isUnavailable && requested < limit
  const tryNext = async (transaction: OpenFee) => {
    const key = feeKey(transaction.blockHash, transaction.hash)
    if (tried.has(key)) return
    tried.add(key)
    requested += 1
    if (await tryTransaction(transaction, { checkpoint, requestFee: () => requestFee(transaction) }))
      answered += 1
    else if (answered === 0 && requested === MAX_PROBES) await checkpoint.setListedPrice('no details')
  }
  const run = async () => {
    for (let next = candidates.shift(); next !== undefined && isOpen(); next = candidates.shift())
      await tryNext(next)
    running = undefined
  }
  return {
    offer: (transaction) => {
      if (!isOpen() || candidates.length >= MAX_CANDIDATES) return
      candidates.push(transaction)
      running ??= run().catch((error: unknown) => {
        running = undefined
        if (isServiceError(error) && hasNoDetails(checkpoint)) {
          isUnavailable = true
          onUnavailable(error)
        } else failure = error
      })
    },
    done: async () => {
      await running
      if (failure !== undefined) throw failure
    },
    result: () => proven() ?? (isUnavailable || (requested > 0 && answered === 0) ? 'no details' : undefined),
    isOpen,
    extend: () => {
      limit = requested + MAX_FURTHER_PROBES
    },
  }
}

/** Requests the details unless they are stored, and stores what they prove. Returns false if there are none. */
async function tryTransaction(
  { hash, blockHash, price }: OpenFee,
  {
    checkpoint,
    requestFee,
  }: { checkpoint: FeeCheckpoint; requestFee: () => Promise<FeeDetails | undefined> },
): Promise<boolean> {
  const stored = checkpoint.fees.probes.get(feeKey(blockHash, hash))
  const details = stored ?? (await requestFee())
  if (details === undefined) return false
  if (stored === undefined) await checkpoint.addFee({ hash, blockHash, ...details, probe: true })
  const proven = compare(price, details)
  if (proven !== undefined) await checkpoint.setListedPrice(proven)
  return true
}

/** Whether all attempts of a request failed, but not those of other requests. */
const isServiceError = (error: unknown): error is ExportError =>
  error instanceof ExportError && ['SERVICE_UNAVAILABLE', 'PAGE_MALFORMED'].includes(error.code)

const hasNoDetails = ({ fees: { details, probes } }: FeeCheckpoint) => details.size === 0 && probes.size === 0

/** Candidates in memory: pages arrive faster than the answers to a probe. */
const MAX_CANDIDATES = 20

/** What the listed price proves, if anything: if the price paid equals the cap, both explain it. */
function compare(listed: string, { price, cap }: FeeDetails): ListedPrice | undefined {
  const [listedPrice, paid, max] = [BigInt(listed), BigInt(price), BigInt(cap)]
  if (paid === max) return undefined
  return listedPrice < max ? 'effective' : 'cap'
}
