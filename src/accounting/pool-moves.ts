import { assetKey, type Movement } from './movement.ts'

export const POOL_MOVES = ['add', 'remove', 'receiveShare', 'returnShare'] as const

/**
 * What a movement is in a deposit to a pool or lending protocol, or in a withdrawal from one: an amount that is added or
 * removed, or the share that represents it.
 */
export type PoolMove = (typeof POOL_MOVES)[number]

/** Whether a pool move is a received amount. */
export const isReceivedMove = (move: PoolMove): boolean => move === 'remove' || move === 'receiveShare'

/**
 * Returns the pool moves of a wallet's movements in one transaction; empty if there are none. A deposit has a method of
 * deposits, which mints a share to the wallet for what it sent. A withdrawal has a method of withdrawals, which burns a
 * share of the wallet and pays it out. Methods for liquidity may transfer the share instead, as Uniswap V2 does: the
 * wallet sends it to the pair, which burns it. A refund reverses the move of its asset.
 */
export function poolMovesOf(movements: readonly Movement[]): ReadonlyMap<Movement, PoolMove> {
  const method = movements[0]?.method ?? ''
  const [isDeposit, isWithdrawal] = [DEPOSIT.test(method), WITHDRAWAL.test(method)]
  if (!isDeposit && !isWithdrawal) return new Map()
  const isShare = ({ type }: Movement) => type === 'mint' || type === 'burn' || LIQUIDITY.test(method)
  const isPrincipal = ({ type }: Movement) => type === 'transfer'
  const [isGiven, isTaken] = isDeposit ? [isPrincipal, isShare] : [isShare, isPrincipal]
  const moved = movements.filter(({ type, isOwn }) => !isOwn && MOVED.has(type))
  const given = moved.filter((one) => one.isOut && isGiven(one))
  const assets = new Set(given.map(({ asset }) => assetKey(asset)))
  const isRefund = ({ isOut, asset }: Movement) => !isOut && assets.has(assetKey(asset))
  const taken = moved.filter((one) => !one.isOut && !isRefund(one) && isTaken(one))
  if (given.length === 0 || taken.length === 0) return new Map()
  const moves = isDeposit ? DEPOSIT_MOVES : WITHDRAWAL_MOVES
  return new Map([
    ...given.map((one) => [one, moves.given] as const),
    ...taken.map((one) => [one, moves.taken] as const),
    ...moved.filter(isRefund).map((one) => [one, moves.refund] as const),
  ])
}

const DEPOSIT = /^(add_?liquidity|deposit|stake|supply)/i
const WITHDRAWAL = /^(remove_?liquidity|withdraw|redeem|unstake)/i
const LIQUIDITY = /^(add|remove)_?liquidity/i

const MOVED: ReadonlySet<Movement['type']> = new Set(['transfer', 'mint', 'burn'])

const DEPOSIT_MOVES = { given: 'add', taken: 'receiveShare', refund: 'remove' } as const
const WITHDRAWAL_MOVES = { given: 'returnShare', taken: 'remove', refund: 'receiveShare' } as const
