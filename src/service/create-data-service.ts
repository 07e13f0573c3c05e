import type { DataService, DataServiceOptions, ServiceAnswer, ServiceRequest } from './data-service.ts'
import { createKeyCheck } from './key-check.ts'
import { listBlock } from './list-block.ts'
import { listWallet } from './list-wallet.ts'
import { openChains } from './open-chains.ts'
import { createPageTokens } from './page-tokens.ts'
import { createQuotaGate, type QuotaVerdict } from './quota-gate.ts'
import { answerJson, answerRefusal, Refusal } from './refusal.ts'
import { type Listing, readRoute } from './route.ts'
import { createWelcome } from './welcome.ts'

/**
 * Creates the embedded data service: the block and wallet listings (interface 4.1 and 4.3) of the chains in
 * `chains/`, and a welcome page at `/`, which needs no key and costs no quota.
 *
 * Nothing is read before the first request that needs it. Page tokens are good as long as this service lives.
 * Fails with `USAGE` where an option makes no sense.
 */
export function createDataService(options: DataServiceOptions = {}): DataService {
  const door = createDoor(options)
  const chains = openChains(options)
  const tokens = createPageTokens()

  const list = (listing: Listing) => {
    const chain = chains.named(listing.chain)
    return listing.of === 'wallet'
      ? listWallet(listing, { chain, tokens })
      : listBlock(listing, { chain, tokens })
  }

  const enter = async (request: ServiceRequest): Promise<ServiceAnswer> => {
    const route = readRoute(request)
    if (route === 'welcome') return answerJson(200, createWelcome(chains.ids))
    const verdict = door(request)
    const answer = verdict.refusal
      ? answerRefusal(verdict.refusal)
      : await answered(options, async () => answerJson(200, await list(route())))
    return { ...answer, headers: { ...answer.headers, ...verdict.headers } }
  }

  return { answer: (request) => answered(options, () => enter(request)) }
}

/** Checks the key, then spends the quota of that key: who has no key spends nobody's quota. */
function createDoor(options: DataServiceOptions): (request: ServiceRequest) => QuotaVerdict {
  const checkKey = createKeyCheck(options)
  const spend = createQuotaGate(options)
  return (request) => spend(checkKey(request.headers))
}

/** Turns whatever is thrown into an answer: a refusal into its status, anything else into a 500 without details. */
async function answered(
  { onInternalError }: DataServiceOptions,
  work: () => Promise<ServiceAnswer>,
): Promise<ServiceAnswer> {
  try {
    return await work()
  } catch (thrown) {
    if (thrown instanceof Refusal) return answerRefusal(thrown)
    onInternalError?.(thrown)
    return answerRefusal({ status: 500, message: 'The service failed to answer this request.' })
  }
}
