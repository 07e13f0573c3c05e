import { isNft } from '../core/model/asset.ts'
import { entryRulesOf } from '../core/model/entry-types.ts'
import { isWrappedNative } from '../core/model/pegs.ts'
import { type Asset, assetKey, groupByWallet, type Movement } from './movement.ts'
import type { Income, MethodRule } from './protocols/protocol.ts'
import { isWith, ruleOf } from './protocols/rule-of.ts'

/** Which amounts a row has: a received one, a sent one, or both. A fee is a sent amount. */
export type LegSide = 'in' | 'out' | 'swap'

/** An amount of an asset, in its smallest unit; always positive. */
export type Leg = { asset: Asset; value: bigint }

/**
 * One row of an import file: a received amount, a sent amount, a fee, or a swap of one asset for another. Amounts are exact;
 * `movements` are the ledger rows that the row represents.
 */
export type ImportRow = {
  kind: 'in' | 'out' | 'fee' | 'swap'
  /** Whether the counterparty is a wallet of the job too. */
  isOwn: boolean
  /** Whether a swap wraps or unwraps a coin. @default false */
  isWrap?: boolean
  /**
   * Whether one side of a swap is minted, burned or a pool share, so that it may be a deposit or a withdrawal.
   * @default false
   */
  hasShare?: boolean
  /** The kind of income that a received amount is for certain: the user declares it, or it is a claim of a known protocol. */
  income?: Income | 'declared' | undefined
  /** What the row is in a deposit or withdrawal. @default neither */
  poolMove?: PoolMove | undefined
  in: Leg | undefined
  out: Leg | undefined
  movements: readonly [Movement, ...Movement[]]
  /** The equal rows whose sum this row is. @default this row itself */
  mergedRows?: readonly ImportRow[]
  /** The type or account that the user's labels assign to the row. */
  label: string | undefined
  /** The fee that shares the row with the amount. */
  fee?: Leg | undefined
  /** Whether the sent amount includes the fee. @default false */
  isFeeIncluded?: boolean
  /** Explorer formats only: the summary of the transaction. */
  transaction?: TransactionSummary | undefined
}

/** What explorer formats show of a transaction, from the transactions table. */
export type TransactionSummary = {
  sender: string | null
  receiver: string | null
  /** Native coins that the transaction transferred, in the smallest unit. */
  value: bigint
  isFailed: boolean
}

/** Returns the user's label for a row. */
export type Labels = (row: ImportRow) => string | undefined

/** Whether a swap may be one row. If not, its assets have separate rows, because one side may be representable. */
export type AcceptsSwap = (row: ImportRow) => boolean

/**
 * `pair` writes a swap as one row, and `off` none. `all` includes those with a token that is minted, burned or a pool
 * share.
 */
export type SwapMode = 'pair' | 'all' | 'off'

/** Returns the test of swaps for a mode and a format; undefined if no swap may be one row. */
export function acceptsSwapIn(mode: SwapMode, canWrite: AcceptsSwap): AcceptsSwap | undefined {
  if (mode === 'off') return undefined
  return (row) => (mode === 'all' || !row.hasShare) && canWrite(row)
}

/**
 * Returns the rows for the movements of one wallet in one transaction, in ledger order, without labels. Each wrap, and a
 * swap of the other movements, becomes one row if `acceptsSwap` returns true; these rows follow the others. In other swaps,
 * and in deposits to pools and withdrawals, refunds are subtracted. Without `acceptsSwap`, every movement has a row of its own.
 */
export function importRowsOf(movements: readonly Movement[], acceptsSwap?: AcceptsSwap): ImportRow[] {
  const rule = ruleOf(movements)
  // Most transactions of most wallets end here.
  if (!hasBothDirections(movements))
    return withIncome(
      movements.map((movement) => importRowOf(movement)),
      rule,
    )
  const wraps = pairWraps(movements)
  const others = withoutPaired(movements, wraps)
  const poolMoves = poolMovesOf(others, rule)
  const swaps = acceptsSwap === undefined ? [] : [...wraps, ...findSwap(others, poolMoves)]
  const pairs = swaps.filter((row) => acceptsSwap?.(row))
  const rest = withoutPaired(movements, pairs)
  const ofSwaps = new Set(swaps.flatMap((row) => (row.isWrap ? [] : row.movements)))
  const rows =
    acceptsSwap === undefined
      ? rest.map((movement) => importRowOf(movement))
      : rowsWithoutRefunds(
          rest,
          (movement) => ofSwaps.has(movement) || poolMoves.has(movement) || isPaid(movement, rule),
        )
  if (poolMoves.size > 0) for (const row of rows) row.poolMove = poolMoves.get(row.movements[0])
  return [...withIncome(rows, rule), ...pairs]
}

/** Whether a movement is part of a payment, or a refund of it. */
const isPaid = ({ type, isOwn }: Movement, rule: MethodRule | undefined): boolean =>
  rule?.kind === 'payment' && type === 'transfer' && !isOwn

/** Marks the amounts that a claim of a known protocol pays. */
function withIncome(rows: ImportRow[], rule: MethodRule | undefined): ImportRow[] {
  if (rule?.kind !== 'airdrop' && rule?.kind !== 'reward') return rows
  for (const row of rows)
    if (row.kind === 'in' && !row.isOwn && isWith(row.movements[0], rule)) row.income = rule.kind
  return rows
}

/** Returns a row per movement. What came back of an asset that was sent, or was returned of one that was received, is subtracted. */
function rowsWithoutRefunds(
  movements: readonly Movement[],
  mayHaveRefunds: (movement: Movement) => boolean,
): ImportRow[] {
  const byAsset = new Map<string, Movement[]>()
  for (const movement of movements) {
    if (!mayHaveRefunds(movement)) continue
    const ofAsset = byAsset.get(assetKey(movement.asset))
    if (ofAsset === undefined) byAsset.set(assetKey(movement.asset), [movement])
    else ofAsset.push(movement)
  }
  return movements.flatMap((movement) => {
    const ofAsset = mayHaveRefunds(movement) ? byAsset.get(assetKey(movement.asset)) : undefined
    const net = ofAsset && netRowOf(ofAsset)
    if (net === undefined) return [importRowOf(movement)]
    return movement === ofAsset?.[0] ? [net] : []
  })
}

/** The row of an asset's movements, if they have both directions and do not cancel each other out. */
function netRowOf(movements: readonly Movement[]): ImportRow | undefined {
  const [received, sent] = [movements.filter(({ isOut }) => !isOut), movements.filter(({ isOut }) => isOut)]
  const net = sumOf(received) - sumOf(sent)
  const [first, ...others] = net > 0n ? [...received, ...sent] : [...sent, ...received]
  if (first === undefined || received.length === 0 || sent.length === 0 || net === 0n) return undefined
  const leg = { asset: first.asset, value: net > 0n ? net : -net }
  return { ...importRowOf(first), [net > 0n ? 'in' : 'out']: leg, movements: [first, ...others] }
}

const sumOf = (movements: readonly Movement[]) => movements.reduce((sum, { value }) => sum + value, 0n)

/** Whether the wallet received and sent something, without fees. Swaps, wraps and moves of pools need both. */
function hasBothDirections(movements: readonly Movement[]): boolean {
  let [isReceiver, isSender] = [false, false]
  for (const { isOut, type } of movements) {
    if (!isOut) isReceiver = true
    else if (type !== 'fee') isSender = true
  }
  return isReceiver && isSender
}

function withoutPaired(movements: readonly Movement[], pairs: readonly ImportRow[]): readonly Movement[] {
  if (pairs.length === 0) return movements
  const paired = new Set(pairs.flatMap((row) => row.movements))
  return movements.filter((movement) => !paired.has(movement))
}

/** Finds the swap of a transaction, if it has one. A coin for the same amount of its wrapped token is a wrap. */
function findSwap(movements: readonly Movement[], poolMoves: PoolMoves): ImportRow[] {
  const swap = pairSwap(movements)
  if (swap === undefined) return []
  const isWrap = isOneToOneWrap(swap)
  return [{ ...swap, isWrap, hasShare: !isWrap && (poolMoves.size > 0 || hasReceipt(swap)) }]
}

type PoolMoves = ReadonlyMap<Movement, PoolMove>

/** Whether a swap is of the native coin and the same amount of its wrapped token, through another contract than the token's. */
function isOneToOneWrap({ in: received, out: sent, movements: [{ chain }] }: ImportRow): boolean {
  const legs = [sent, received]
  const [coin, token] = [
    legs.find(isCoin),
    legs.find((leg) => leg !== undefined && isWrappedCoin(leg, chain)),
  ]
  return coin !== undefined && coin.value === token?.value
}

const isCoin = (leg: Leg | undefined) => leg?.asset.type === 'native'

const isWrappedCoin = ({ asset: { type, address } }: { asset: Asset }, chain: string) =>
  type === 'erc20' && isWrappedNative(chain, address ?? '')

/**
 * Pairs each row of the token of a wrap or unwrap with the row of the coin, which has the same value, the opposite direction,
 * and the contract as its counterparty. The token's row is one that was added for the coin, and has its source, or a mint or
 * burn where the contract emits one.
 */
function pairWraps(movements: readonly Movement[]): ImportRow[] {
  const tokens = movements.filter(
    (movement) => isWrap(movement) || (isMinted(movement) && isWrappedCoin(movement, movement.chain)),
  )
  if (tokens.length === 0) return []
  const coins = new Set(movements.filter(({ asset, type }) => asset.type === 'native' && type === 'transfer'))
  return tokens.flatMap((token) => {
    const coin = [...coins].find(
      ({ counterparty, isOut, value, source }) =>
        counterparty === token.asset.address &&
        isOut !== token.isOut &&
        value === token.value &&
        (source === token.source || isMinted(token)),
    )
    if (coin === undefined) return []
    coins.delete(coin)
    const [sent, received] = token.isOut ? [token, coin] : [coin, token]
    return [swapRow(sent, received, { isWrap: true, movements: [coin, token] })]
  })
}

const isMinted = ({ type }: Movement) => type === 'mint' || type === 'burn'

/** Whether a movement is the token side of wrapping or unwrapping. */
export const isWrap = (movement: Movement): boolean => entryRulesOf(movement.type).countsAs === 'wrap'

function swapRow(
  sent: Leg,
  received: Leg,
  { isWrap, movements }: { isWrap: boolean; movements: ImportRow['movements'] },
): ImportRow {
  const [out, into] = [sent, received].map(({ asset, value }) => ({ asset, value }))
  return { kind: 'swap', isOwn: false, isWrap, in: into, out, movements, label: undefined }
}

/** Returns the row with a fee of its transaction; undefined if the fee needs a row of its own. */
export type AttachFee = (row: ImportRow, fee: ImportRow) => ImportRow | undefined

export type RowOptions = {
  labelOf: Labels
  /** Undefined if no swap may be one row. */
  acceptsSwap?: AcceptsSwap | undefined
  /** Undefined if every fee has a row of its own. */
  attachFee?: AttachFee | undefined
}

/** Returns the rows of the movements of one transaction or second, wallet by wallet, with the user's labels. */
export function labelledRowsOf(
  movements: readonly Movement[],
  { labelOf, acceptsSwap, attachFee }: RowOptions,
): ImportRow[] {
  const rows: ImportRow[] = []
  for (const group of groupByWallet(movements)) {
    const ofWallet = importRowsOf(group, acceptsSwap)
    for (const row of ofWallet) row.label = labelOf(row)
    for (const row of attachFee === undefined ? ofWallet : withAttachedFee(ofWallet, attachFee))
      rows.push(row)
  }
  return rows
}

/** Attaches the fee of a transaction to its swap or else to its first sent amount, if it has one and its row can have a fee. */
function withAttachedFee(rows: readonly ImportRow[], attachFee: AttachFee): readonly ImportRow[] {
  const [fee, ...otherFees] = rows.filter(({ kind }) => kind === 'fee')
  const paid =
    rows.find(({ kind }) => kind === 'swap') ??
    rows.find(({ kind, movements: [{ type }] }) => kind === 'out' && type !== 'self')
  if (fee === undefined || otherFees.length > 0 || paid === undefined) return rows
  const attached = attachFee(paid, fee)
  if (attached === undefined) return rows
  return rows.flatMap((row) => (row === fee ? [] : [row === paid ? attached : row]))
}

/** Returns the row of one movement. `transaction` is needed for explorer formats only. */
export function importRowOf(movement: Movement, transaction?: TransactionSummary | undefined): ImportRow {
  const { isOut, isOwn, asset, value } = movement
  const { countsAs } = entryRulesOf(movement.type)
  const leg = { asset, value }
  return {
    kind: countsAs === 'fee' ? 'fee' : isOut ? 'out' : 'in',
    isOwn: isOwn || countsAs === 'own',
    income: movement.type === 'declared_income' ? 'declared' : undefined,
    in: isOut ? undefined : leg,
    out: isOut ? leg : undefined,
    movements: [movement],
    label: undefined,
    fee: undefined,
    transaction,
  }
}

/**
 * Detects a swap: net of refunds and without the fee, exactly one asset was sent and one received, and no movement is
 * between own wallets. Each token id is an asset, so that several NFTs of one payment are not a swap: how much was paid
 * for each is unknown. A claim rules a swap out, and so do some entry types.
 */
function pairSwap(movements: readonly Movement[]): ImportRow | undefined {
  if (movements.length < 2 || movements.some(preventsSwap)) return undefined
  const [first, ...others] = movements.filter(({ type }) => type !== 'fee')
  if (first === undefined || others.every(({ isOut }) => isOut === first.isOut)) return undefined
  const nets = new Map<string, { asset: Asset; value: bigint }>()
  for (const { asset, value, isOut } of [first, ...others]) {
    const key = assetKey(asset)
    nets.set(key, { asset, value: (nets.get(key)?.value ?? 0n) + (isOut ? -value : value) })
  }
  const legs = [...nets.values()].filter(({ value }) => value !== 0n)
  const [sent, received] = [legs.find(({ value }) => value < 0n), legs.find(({ value }) => value > 0n)]
  if (legs.length !== 2 || sent === undefined || received === undefined) return undefined
  return swapRow({ asset: sent.asset, value: -sent.value }, received, {
    isWrap: false,
    movements: [first, ...others],
  })
}

const preventsSwap = (movement: Movement): boolean =>
  movement.isOwn || isClaim(movement.method) || !entryRulesOf(movement.type).allowsSwap

/** Whether a method pays out what the wallet is entitled to. A payment is then a fee, not the price. */
export const isClaim = (method: string | null): boolean => CLAIM.test(method ?? '')

const CLAIM =
  /^((auto|batch|multi)?_?(claim|harvest)|withdraw_?and_?harvest|(get|collect|withdraw|redeem)_?(all_?)?reward)/i

/**
 * Whether the token that a swap mints or burns can be a share or a receipt. The exception is an NFT that a method of sale
 * mints for coins; other methods mint receipts for deposits as NFTs too.
 */
const hasReceipt = ({ out: sent, movements }: ImportRow) =>
  movements.some(
    ({ type, asset, method }) =>
      type === 'burn' ||
      (type === 'mint' && !(isNft(asset) && sent?.asset.type === 'native' && SALE.test(method ?? ''))),
  )

const SALE = /^[^(]*(mint|buy|purchase|register)/i

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
export function poolMovesOf(
  movements: readonly Movement[],
  rule: MethodRule | undefined = ruleOf(movements),
): ReadonlyMap<Movement, PoolMove> {
  if (rule?.kind !== 'deposit' && rule?.kind !== 'withdrawal') return new Map()
  const isDeposit = rule.kind === 'deposit'
  const isShare = ({ type }: Movement) => type === 'mint' || type === 'burn' || rule.transfersShares === true
  const isPrincipal = ({ type }: Movement) => type === 'transfer'
  const [isGiven, isTaken] = isDeposit ? [isPrincipal, isShare] : [isShare, isPrincipal]
  const moved = movements.filter(({ type, isOwn }) => !isOwn && MOVED.has(type))
  const given = moved.filter((movement) => movement.isOut && isGiven(movement))
  const assets = new Set(given.map(({ asset }) => assetKey(asset)))
  const isRefund = ({ isOut, asset }: Movement) => !isOut && assets.has(assetKey(asset))
  const taken = moved.filter((movement) => !movement.isOut && !isRefund(movement) && isTaken(movement))
  if (given.length === 0 || taken.length === 0) return new Map()
  const moves = isDeposit ? DEPOSIT_MOVES : WITHDRAWAL_MOVES
  return new Map([
    ...given.map((movement) => [movement, moves.given] as const),
    ...taken.map((movement) => [movement, moves.taken] as const),
    ...moved.filter(isRefund).map((movement) => [movement, moves.refund] as const),
  ])
}

const MOVED: ReadonlySet<Movement['type']> = new Set(['transfer', 'mint', 'burn'])

const DEPOSIT_MOVES = { given: 'add', taken: 'receiveShare', refund: 'remove' } as const
const WITHDRAWAL_MOVES = { given: 'returnShare', taken: 'remove', refund: 'receiveShare' } as const
