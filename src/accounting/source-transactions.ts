import { chainOf } from '../core/model/chains.ts'
import type { ConversionSource } from './conversion-sources.ts'
import { mergeTransactions, type Transactions } from './merge-transactions.ts'
import type { Movement } from './movement.ts'
import { safeText } from './names/asset-name.ts'
import { nameParties } from './names/party-names.ts'
import { markOwnTransfers, type OwnWallets, ownWalletsOf } from './own-transfers.ts'
import type { Period } from './period.ts'
import { readSpam, type SpamTokens } from './spam.ts'
import { transactionsOf } from './transactions.ts'

type StreamOptions = {
  period: Period
  excludeSpam?: boolean | undefined
  /** Called for each movement that is excluded as spam, with the reason. */
  onSpam: (movement: Movement, reason: string) => void
}

/** An export, and the opening balances that precede its transactions. */
type OpenedSource = ConversionSource & { opening: readonly Movement[] }

/** Streams the movements of exports, grouped by transaction, in the order of `mergeTransactions`. */
export async function streamTransactions(
  sources: readonly OpenedSource[],
  options: StreamOptions,
): Promise<Transactions> {
  const spamOf = await readSpam(sources, options.excludeSpam)
  const exports = []
  for (const source of sources) {
    const spam = spamOf(source.chain)
    const transactions = describeTransactions(source, { ...options, ...describeChain(source, sources), spam })
    exports.push({ chain: source.chain, transactions })
  }
  return mergeTransactions(exports)
}

type ChainDescription = {
  /** Set only if there are several chains. */
  chainName: string | undefined
  /** Set only if there are several exports of the chain. */
  ownWallets: OwnWallets | undefined
}

function describeChain({ chain }: ConversionSource, sources: readonly ConversionSource[]): ChainDescription {
  const ofChain = sources.filter((one) => one.chain === chain)
  const exports = ofChain.map(({ opened }) => ({ chain, coverage: opened.manifest.coverage }))
  return {
    chainName: ofChain.length === sources.length ? undefined : safeText(chainOf(chain)?.name ?? chain),
    ownWallets: ownWalletsOf(chain, exports),
  }
}

async function* describeTransactions(
  { opened, contracts, names, opening }: OpenedSource,
  { period, chainName, ownWallets, ...filter }: StreamOptions & ChainDescription & SpamFilter,
): Transactions {
  async function* withOpening(): Transactions {
    if (opening.length > 0) yield [...opening]
    yield* transactionsOf(opened, { period, contracts })
  }
  for await (const movements of withOpening()) {
    nameParties(movements, names)
    if (chainName !== undefined) for (const movement of movements) movement.chainName = chainName
    if (ownWallets !== undefined) markOwnTransfers(movements, ownWallets)
    const included = withoutSpam(movements, filter)
    if (included.length > 0) yield included
  }
}

type SpamFilter = Pick<StreamOptions, 'onSpam'> & { spam: SpamTokens }

function withoutSpam(movements: readonly Movement[], { spam, onSpam }: SpamFilter): Movement[] {
  return movements.filter((movement) => {
    const reason = spam.get(movement.asset.address ?? '')
    if (reason !== undefined) onSpam(movement, reason)
    return reason === undefined
  })
}
