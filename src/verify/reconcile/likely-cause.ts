import { evmIdOf } from '../../core/model/chains.ts'
import type { Manifest } from '../../core/model/manifest.ts'
import type { ComparedBalance } from './compare-wallet.ts'
import type { DivergentTransaction } from './divergent-rows.ts'
import type { Divergence } from './find-divergence.ts'

/** EVM chain ids of the C-Chain and its test network, which exchange coins with the X-Chain and the P-Chain. */
const AVALANCHE: ReadonlySet<string> = new Set(['43114', '43113'])

const hasAtomicTransfers = (chain: string): boolean => AVALANCHE.has(evmIdOf(chain) ?? chain)

/** The settings of the export that decide which causes are possible. */
export type ExportSettings = Pick<Manifest['job'], 'chain' | 'internals'>

/** A difference of the native coin, and where it begins. */
export type DivergentCoin = {
  job: ExportSettings
  divergence: Divergence
  /** The wallet's transactions in the block in which the difference begins. */
  transactions: readonly DivergentTransaction[]
}

/** The transaction that most likely causes a difference; undefined if it is none of the wallet's. */
export function suspectOf({
  divergence: { excess },
  transactions,
}: Pick<DivergentCoin, 'divergence' | 'transactions'>): DivergentTransaction | undefined {
  return (
    transactions.find(({ overstatedBy }) => overstatedBy !== undefined) ??
    transactions.find((one) => explainsFee(one, excess)) ??
    transactions[0]
  )
}

/** A fee computed from a cap is too high, by less than the whole fee. */
const explainsFee = ({ hasFeeCap, fee }: DivergentTransaction, excess: bigint): boolean =>
  hasFeeCap && excess > 0n && excess < fee

/** Names the likely cause of a difference of the native coin, and how to confirm it. */
export function coinCause(coin: DivergentCoin): string {
  const { job, divergence } = coin
  const { fromBlock, toBlock, excess, isInOwnBlock } = divergence
  const suspect = suspectOf(coin)
  const amount = `${excess > 0n ? '+' : ''}${excess}`
  if (isInOwnBlock && suspect !== undefined)
    return `${describeSuspect(suspect, { job, divergence, amount })} (transaction ${suspect.hash}, block ${toBlock})`
  if (fromBlock < toBlock)
    return `begins in blocks ${fromBlock} to ${toBlock} (${amount}); search further with --wallet, or compare these blocks in a block explorer`
  if (excess > 0n && job.internals !== 'full')
    return `block ${toBlock} adds ${amount} without a listed transaction: probably an internal payment that the listing lacks; ${READ_INTERNALS}. ${otherSources(job.chain)}`
  if (hasAtomicTransfers(job.chain))
    return `block ${toBlock} changes the balance by ${amount} without a transaction of the wallet: an import from or export to the X-Chain or P-Chain; look for the wallet's atomic transactions in that block`
  return excess > 0n
    ? `block ${toBlock} adds ${amount} without a listed transaction: a block reward, a validator withdrawal or an internal payment that the service lacks; see that block in a block explorer`
    : `block ${toBlock} changes the balance by ${amount} without a listed transaction: see the wallet's transactions of that block in a block explorer`
}

/** The advice for internal payments to a wallet that its listing lacks. */
const READ_INTERNALS =
  'run the job with --internals full --fresh, which also reads the listing of internal transactions'

const otherSources = (chain: string): string =>
  hasAtomicTransfers(chain)
    ? 'Otherwise it is an import from the X-Chain or P-Chain'
    : 'Otherwise it is a block reward or a validator withdrawal'

type Suspicion = Pick<DivergentCoin, 'job' | 'divergence'> & { amount: string }

function describeSuspect(
  suspect: DivergentTransaction,
  { job, divergence: { excess }, amount }: Suspicion,
): string {
  const { overstatedBy = explainsFee(suspect, excess) ? excess : undefined } = suspect
  if (overstatedBy !== undefined)
    return `the listed gas price is the fee cap, so the fee is ${overstatedBy} too high: run the job with --fees exact, or compare effectiveGasPrice in the receipt`
  return excess > 0n
    ? `an internal payment to the wallet is not listed (${amount}): ${job.internals === 'full' ? 'see the internal transactions in a block explorer' : READ_INTERNALS}`
    : `a payment by the wallet is not listed, or a receipt is counted twice (${amount}): compare the internal transactions with a block explorer`
}

/** The cause of a difference of the native coin that was not located. */
export const unlocatedCoinCause = (
  { chain, internals }: ExportSettings,
  { ledger, service }: ComparedBalance,
): string =>
  [
    ...(service > ledger
      ? [
          'fee caps listed as gas prices',
          `internal payments that are not listed${internals === 'full' ? '' : ` (${READ_INTERNALS})`}`,
        ]
      : ['payments that are not listed']),
    ...(hasAtomicTransfers(chain) ? ['imports from or exports to the X-Chain or P-Chain'] : []),
  ].join(', or ')

/** Names the likely cause of a difference of a token, and how to confirm it. */
export function tokenCause({ type, ledger, service }: ComparedBalance, isWrapper: boolean): string {
  if (type === 'erc721')
    return "the contract does not emit a Transfer event for every change of owner: confirm with the contract's ownerOf"
  if (type === 'erc1155')
    return "the contract changes balances without events, or the service lacks some: confirm with the contract's balanceOf"
  if (isWrapper)
    return "the token wraps the coin, and deposits and withdrawals emit no Transfer event: confirm with the contract's balanceOf"
  if (ledger < 0n || service === 0n)
    return "the token's Transfer events do not match its balances, as is usual for spam: confirm with the contract's balanceOf"
  return "the token changes balances without Transfer events (rebasing, or a fee on transfers): confirm with the contract's balanceOf"
}
