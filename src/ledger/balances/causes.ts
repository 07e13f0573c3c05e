import { atomicNetworkOf, evmIdOf } from '../../core/model/chains.ts'
import type { BalanceSum } from './balance-sums.ts'

/** The newest row of an export. */
type NewestRow = { block: number; time: string }

/** Properties of the export that determine the likely causes of a negative sum. */
export type CauseContext = {
  /** The job's chain. */
  chain: string
  /** The first block of the wallet's history in the export. */
  fromBlock: number
  newest: NewestRow | undefined
  /** Whether the export contains the atomic transactions of the C-Chain. @default false */
  hasAtomic?: boolean
  /**
   * Whether the token's contract wraps the native coin: the ledger contains the token side of wrapping, or leaves it out, or
   * the contract probably does and is in no list. @default no
   */
  wraps?: 'ledger' | 'off' | 'probably' | undefined
}

/** The cause of a negative sum of a token whose history is complete. */
export const EVENTS_MISMATCH =
  "the token's Transfer events do not match its balances, as those of rebasing tokens, so its sums are not meaningful"

/** What to do about a contract that probably wraps the coin. */
export const addWrappedCoin = (contract: string): string =>
  `its contract takes and pays coins without Transfer events, as a wrapped coin does: if it is one, add it to the job (wrappedCoins: [${contract}], or --wrapped-coins ${contract})`

/** Lists the likely causes of a negative sum, the most likely first. */
export function likelyCauses({ type, address }: BalanceSum, context: CauseContext): string[] {
  if (type === 'native') return nativeCauses(context)
  if (context.wraps === 'off')
    return ['the token wraps the coin without Transfer events, and the job leaves that out (wraps: off)']
  if (context.wraps === 'probably') return [addWrappedCoin(address ?? '')]
  const earlier = context.fromBlock > 0 ? [earlierHistory(context.fromBlock)] : []
  if (context.wraps === 'ledger')
    return [...earlier, 'coins were wrapped by a call that the service does not list']
  return earlier.length > 0 ? earlier : [EVENTS_MISMATCH]
}

const earlierHistory = (fromBlock: number) =>
  `the wallet held some before block ${fromBlock}, where the export begins: declare it with --opening`

function nativeCauses({ chain, fromBlock, newest, hasAtomic = false }: CauseContext): string[] {
  if (isDemoChain(chain, newest))
    return ['the account had coins at genesis, which no transaction shows: declare them with --opening']
  return [
    ...(fromBlock > 0 ? [earlierHistory(fromBlock)] : []),
    'coins arrived in ways that the service does not list, such as block rewards and validator withdrawals',
    ...(atomicNetworkOf(chain) === undefined || hasAtomic
      ? []
      : [
          'imports from the X-Chain or P-Chain, which are not EVM transactions: run the job with atomic: true',
        ]),
    'fees of type-2 transactions whose listed gas price is above the price paid',
    'wrapped coins that were unwrapped by a call that the service does not list',
  ]
}

/**
 * Recognizes the embedded demo chain, which uses the id of the public C-Chain. The first 421 blocks of the C-Chain date
 * from 2020, those of the demo chain from 2023.
 */
function isDemoChain(chain: string, newest: NewestRow | undefined): boolean {
  return evmIdOf(chain) === '43114' && newest !== undefined && newest.block <= 421 && newest.time >= '2023'
}
