import { atomicNetworkOf, wrappedCoinOf } from '../../core/model/chains.ts'
import type { Manifest } from '../../core/model/manifest.ts'
import { addWrappedCoin } from '../../ledger/balances/causes.ts'
import type { ComparedBalance } from './compare-wallet.ts'
import type { DivergentTransaction } from './divergent-rows.ts'
import type { Divergence } from './find-divergence.ts'

/** The properties of an export on which likely causes depend. */
export type ExportedChain = {
  internals: Manifest['job']['internals'] | undefined
  wraps: Manifest['job']['wraps'] | undefined
  chain: string
  /** Contracts that the job adds to the wrapped coins of the chain. @default none */
  wrappedCoins?: readonly string[] | undefined
  /** Whether the export contains the atomic transactions of the C-Chain. */
  hasAtomic: boolean
  /** Whether the service reports current balances of the coin only, so that those at genesis are unknown. @default false */
  isGenesisUnknown?: boolean
  /** Whether opening balances are given. @default false */
  hasOpening?: boolean
}

/** Whether imports from, or exports to, the X-Chain and the P-Chain may explain an amount: they move whole nAVAX. */
const mayBeAtomic = (chain: string, amount: bigint): boolean =>
  atomicNetworkOf(chain) !== undefined && amount % WEI_PER_NAVAX === 0n

const WEI_PER_NAVAX = 10n ** 9n

/** What to do about imports and exports that are missing. */
const atomicFix = (hasAtomic: boolean): string =>
  hasAtomic
    ? "look for the wallet's atomic transactions in that block"
    : 'run the job with atomic: true (--atomic)'

/** A difference of the native coin, and where it begins. */
export type DivergentCoin = ExportedChain & {
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
    transactions.find(
      (transaction) => explainsFee(transaction, excess) || explainsMissingPart(transaction, excess),
    ) ??
    transactions[0]
  )
}

/** A fee computed from a cap is too high, by less than the whole fee. */
const explainsFee = ({ hasFeeCap, fee }: DivergentTransaction, excess: bigint): boolean =>
  hasFeeCap && excess > 0n && excess < fee

/** The fee may lack what the transaction paid for blobs or on L1. */
const explainsMissingPart = ({ mayLackFee, fee }: DivergentTransaction, excess: bigint): boolean =>
  mayLackFee && excess < 0n && fee > 0n

/** Names the likely cause of a difference of the native coin, and how to confirm it. */
export function coinCause(coin: DivergentCoin): string {
  const { chain, internals, hasAtomic, divergence } = coin
  const { fromBlock, toBlock, excess, isInOwnBlock } = divergence
  const suspect = suspectOf(coin)
  const amount = `${excess > 0n ? '+' : ''}${excess}`
  if (isInOwnBlock && suspect !== undefined)
    return `${describeSuspect(suspect, { ...coin, amount })} (transaction ${suspect.hash}, block ${toBlock})`
  if (fromBlock < toBlock)
    return `begins in blocks ${fromBlock} to ${toBlock} (${amount}); search further with --wallet, or compare these blocks in a block explorer`
  if (coin.hasOpening && toBlock === 0)
    return `at block 0, the balance of the service differs by ${amount} from the opening balance: correct the line of this wallet in the file of --opening`
  const isUnlistedPayment = excess > 0n && internals !== 'full'
  if (isUnlistedPayment && !(mayBeAtomic(chain, excess) && !hasAtomic))
    return `block ${toBlock} adds ${amount} without a listed transaction: probably an internal payment that the listing lacks; ${READ_INTERNALS}`
  if (atomicNetworkOf(chain) !== undefined) {
    const other = isUnlistedPayment
      ? `, or an internal payment that the listing lacks: ${READ_INTERNALS}`
      : ''
    return `block ${toBlock} changes the balance by ${amount} without a transaction of the wallet: an import from or export to the X-Chain or P-Chain; ${atomicFix(hasAtomic)}${other}`
  }
  return excess > 0n
    ? `block ${toBlock} adds ${amount} without a listed transaction: a block reward, a validator withdrawal or an internal payment that the service lacks; see that block in a block explorer`
    : `block ${toBlock} changes the balance by ${amount} without a listed transaction: see the wallet's transactions of that block in a block explorer`
}

/** The advice for internal payments to a wallet that its listing lacks. */
const READ_INTERNALS =
  'set internals: full in the job and run it with --fresh, which also reads the listing of internal transactions'

function describeSuspect(
  suspect: DivergentTransaction,
  { chain, internals, hasAtomic, divergence: { excess }, amount }: DivergentCoin & { amount: string },
): string {
  const { overstatedBy = explainsFee(suspect, excess) ? excess : undefined } = suspect
  if (overstatedBy !== undefined)
    return `the listed gas price is the fee cap, so the fee is ${overstatedBy} too high: run the job with --fees exact, or compare effectiveGasPrice in the receipt`
  if (explainsMissingPart(suspect, excess))
    return `the fee may lack what the transaction paid for blobs or for publishing on L1 (${amount}): ${(suspect.type ?? 0) >= 2 ? 'run the job with --fees exact, which adds it if the service reports it, or ' : ''}compare the fee with the receipt`
  const payment =
    excess > 0n
      ? `an internal payment to the wallet is not listed (${amount}): ${internals === 'full' ? 'see the internal transactions in a block explorer' : READ_INTERNALS}`
      : `a payment by the wallet is not listed, or a receipt is counted twice (${amount}): compare the internal transactions with a block explorer`
  return !hasAtomic && mayBeAtomic(chain, excess)
    ? `${payment}; or an import from or export to the X-Chain or P-Chain: ${atomicFix(hasAtomic)}`
    : payment
}

/** The cause of a difference of the native coin that was not located. */
export const unlocatedCoinCause = (
  { chain, internals, hasAtomic, isGenesisUnknown = false, hasOpening = false }: ExportedChain,
  { ledger, service }: ComparedBalance,
): string =>
  [
    ...(hasOpening ? ['an opening balance that is not correct'] : []),
    ...(service > ledger
      ? [
          ...(isGenesisUnknown && !hasOpening
            ? [
                'coins at genesis, which no transaction shows and this service does not report (add them with --opening FILE)',
              ]
            : []),
          'fee caps listed as gas prices',
          `internal payments that are not listed${internals === 'full' ? '' : ` (${READ_INTERNALS})`}`,
        ]
      : ['payments that are not listed']),
    ...(atomicNetworkOf(chain) === undefined || hasAtomic
      ? []
      : [`imports from or exports to the X-Chain or P-Chain (${atomicFix(hasAtomic)})`]),
  ].join(', or ')

/** Names the likely cause of a difference of a token, and how to confirm it. */
export function tokenCause(
  { type, address, ledger, service }: ComparedBalance,
  { chain, wrappedCoins, wraps, internals }: ExportedChain,
  isWrapper: boolean,
): string {
  if (type === 'erc721')
    return "the contract does not emit a Transfer event for every change of owner: confirm with the contract's ownerOf"
  if (type === 'erc1155')
    return "the contract changes balances without events, or the service lacks some: confirm with the contract's balanceOf"
  if (address !== null && wrappedCoinOf({ chain, wrappedCoins })?.contracts.includes(address)) {
    if (wraps !== 'ledger')
      return 'the token wraps the coin, and the ledger lacks its side of wrapping: run the job with --wraps ledger'
    return `coins were wrapped or unwrapped by a call that is not listed: ${internals === 'full' ? '' : `${READ_INTERNALS}, or `}confirm with the contract's balanceOf`
  }
  if (address !== null && isWrapper) return addWrappedCoin(address)
  if (ledger < 0n || service === 0n)
    return "the token's Transfer events do not match its balances, as is usual for spam: confirm with the contract's balanceOf"
  return "the token changes balances without Transfer events (rebasing, or a fee on transfers): confirm with the contract's balanceOf"
}
