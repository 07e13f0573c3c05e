import { evmIdOf } from '../../core/model/chains.ts'
import type { BalanceSum } from './balance-sums.ts'

/** The newest row of an export. */
type NewestRow = { block: number; time: string }

/** What is known of an export and a sum that was below zero. */
export type CauseContext = {
  /** The job's chain. */
  chain: string
  /** The first block of the wallet that the export has. */
  fromBlock: number
  newest: NewestRow | undefined
  /** Whether the token's contract took or gave coins in calls that wrap them. */
  wraps: boolean
}

/** Why a token whose history is complete is below zero. */
export const EVENTS_MISMATCH = "the token's Transfer events do not match its balances: its sums say nothing"

/** Why a sum is below zero: likely causes, the likeliest first. */
export function likelyCauses({ type }: BalanceSum, context: CauseContext): string[] {
  if (type === 'native') return nativeCauses(context)
  if (context.wraps)
    return ['the token wraps the coin without Transfer events: its sums are not its balances']
  return context.fromBlock > 0 ? [earlierHistory(context.fromBlock)] : [EVENTS_MISMATCH]
}

const earlierHistory = (fromBlock: number) =>
  `the wallet had some before block ${fromBlock}, where the export begins: give it with --opening`

function nativeCauses({ chain, fromBlock, newest }: CauseContext): string[] {
  if (isDemoChain(chain, newest))
    return ['the account had coins at genesis, which are in no transaction: give them with --opening']
  return [
    ...(fromBlock > 0 ? [earlierHistory(fromBlock)] : []),
    'coins came in ways that the API does not list, such as block rewards and withdrawals of validators',
    ...(AVALANCHE.has(evmIdOf(chain) ?? chain)
      ? ['imports from the X-Chain or P-Chain, which are no EVM transactions']
      : []),
    'fees of type-2 transactions, where the listed gas price is above the price paid',
    'wrapped coins that were unwrapped by a call that the API does not list',
  ]
}

/** The C-Chain and its test network. */
const AVALANCHE: ReadonlySet<string> = new Set(['43114', '43113'])

/** The embedded demo chain has the id of a public chain, whose first blocks are of 2020; its own are of 2023. */
function isDemoChain(chain: string, newest: NewestRow | undefined): boolean {
  return evmIdOf(chain) === '43114' && newest !== undefined && newest.block <= 421 && newest.time >= '2023'
}
