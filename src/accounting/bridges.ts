import { wellKnownTokens } from '../core/model/well-known-tokens.ts'
import { shiftDecimal } from '../core/platform/decimal.ts'
import { readRecords } from '../read/csv-records.ts'
import { isBridgeContract } from './bridge-contracts.ts'
import { type Asset, groupByWallet, type Movement } from './movement.ts'
import type { Transactions } from './transactions.ts'

/** What a wallet sent on one chain and a wallet received on another: an own transfer, less a fee. */
export type BridgePair = {
  sent: Movement
  received: Movement
  /** `high`: the contract, the method or the counterparty's name is one of a bridge. `medium`: the same wallet, within two hours. */
  confidence: 'high' | 'medium'
  /** The received amount in the smallest unit of the sent asset. */
  arrived: bigint
}

/** Limits of a pair: the time that a bridge takes, and the share of the amount that it keeps. */
const WINDOW_MS = 24 * 3_600_000
const SHORT_WINDOW_MS = 2 * 3_600_000
const MAX_FEE_PERCENT = 3n

const BRIDGE =
  /bridge|cross_?chain|deposit_?for_?burn|deposit_?v3|send_?from|send_?token|outbound|lz_?send|portal/i

/**
 * Finds transfers between chains: the same asset by its ticker, sent on one chain and received on another within a day, less
 * at most 3 %. Each side must be all that its wallet moved in the transaction, apart from fees, and have no other match: where
 * several fit, none is a pair. `vetoed` are transactions that are none. Memory grows with the number of such transfers.
 */
export async function findBridges(
  transactions: Transactions,
  vetoed: ReadonlySet<string>,
): Promise<BridgePair[]> {
  const sent: Movement[] = []
  const received = new Map<string, Movement[]>()
  for await (const movements of transactions)
    for (const group of groupByWallet(movements)) {
      const moved = group.filter(({ type }) => type !== 'fee')
      const [first, ...others] = moved
      if (first === undefined || others.length > 1 || vetoed.has(first.transaction)) continue
      if (moved.every(({ isOut }) => isOut)) {
        for (const movement of moved) if (canBeSent(movement)) sent.push(movement)
      } else if (others.length === 0 && canBeReceived(first)) {
        const key = groupOf(first)
        received.set(key, [...(received.get(key) ?? []), first])
      }
    }
  const candidates = sent.flatMap((out) => {
    const fitting = (received.get(groupOf(out)) ?? []).flatMap((into) => pairOf(out, into) ?? [])
    const ofWallet = fitting.filter((pair) => pair.received.wallet === out.wallet)
    return [ofWallet.length > 0 ? ofWallet : fitting]
  })
  const uses = new Map<Movement, number>()
  for (const { received: into } of candidates.flat()) uses.set(into, (uses.get(into) ?? 0) + 1)
  return candidates.flatMap(([pair, ...others]) =>
    pair !== undefined && others.length === 0 && uses.get(pair.received) === 1 ? [pair] : [],
  )
}

const canBeSent = (movement: Movement) =>
  (movement.type === 'transfer' || movement.type === 'burn') && isBridgeable(movement)

const canBeReceived = (movement: Movement) =>
  !movement.isOut && (movement.type === 'transfer' || movement.type === 'mint') && isBridgeable(movement)

const isBridgeable = (movement: Movement) =>
  !movement.isOwn && movement.asset.decimals !== null && groupOf(movement) !== ''

function pairOf(sent: Movement, received: Movement): BridgePair | undefined {
  const tookMs = Date.parse(received.time) - Date.parse(sent.time)
  if (sent.chain === received.chain || tookMs < 0 || tookMs > WINDOW_MS) return undefined
  const [sentDecimals, receivedDecimals] = [sent.asset.decimals ?? 0, received.asset.decimals ?? 0]
  const scaled = received.value * 10n ** BigInt(sentDecimals)
  const unit = 10n ** BigInt(receivedDecimals)
  // Rounded down, so that what is lost by fewer decimals is part of the fee.
  const arrived = scaled / unit
  if (scaled > sent.value * unit || arrived * 100n < sent.value * (100n - MAX_FEE_PERCENT)) return undefined
  const parties = [sent.method, sent.counterpartyName, received.method, received.counterpartyName]
  const isBridge =
    [sent, received].some(({ chain, counterparty }) => isBridgeContract(chain, counterparty)) ||
    parties.some((text) => BRIDGE.test(text ?? ''))
  const isLikely = sent.wallet === received.wallet && tookMs <= SHORT_WINDOW_MS
  if (!isBridge && !isLikely) return undefined
  return { sent, received, confidence: isBridge ? 'high' : 'medium', arrived }
}

/** Tickers of one asset on several chains, apart from endings such as `.e`. */
const SAME_ASSET: Readonly<Record<string, string>> = {
  USDBC: 'USDC',
  USDT0: 'USDT',
  WETH: 'ETH',
  WBTC: 'BTC',
  BTCB: 'BTC',
  WAVAX: 'AVAX',
  WBNB: 'BNB',
  WPOL: 'POL',
  WMATIC: 'POL',
  MATIC: 'POL',
}

/** The asset of a movement on any chain; '' for tokens without a ticker, whose symbols anyone can choose. */
function groupOf({ asset, chain }: Movement): string {
  const ticker = tickerOf(asset, chain)
    .toUpperCase()
    .replace(/\.[A-Z]$/, '')
  return SAME_ASSET[ticker] ?? ticker
}

function tickerOf({ type, address, symbol, ticker }: Asset, chain: string): string {
  if (type === 'native') return symbol ?? ''
  if (type !== 'erc20' || address === null) return ''
  return wellKnownTokens(chain).get(address)?.ticker ?? ticker ?? ''
}

/**
 * Returns a function that makes own transfers of the sides of pairs. What did not arrive becomes a fee in the sent asset. Sums
 * do not change.
 */
export function bridgeReplacer(
  pairs: readonly BridgePair[],
): (movements: readonly Movement[]) => readonly Movement[] {
  const replacements = new Map<string, Movement[]>()
  for (const { sent, received, arrived } of pairs) {
    const { wallet: counterparty, label } = received
    const counterpartyName = label ?? undefined
    const via = sent.counterparty
    const moved = { ...sent, value: arrived, isOwn: true, counterparty, counterpartyName, via }
    const fee: Movement = {
      ...sent,
      type: 'fee',
      entry: `${sent.entry}-2`,
      value: sent.value - arrived,
      counterparty: null,
    }
    replacements.set(keyOf(sent), fee.value > 0n ? [moved, fee] : [moved])
    const from = { counterparty: sent.wallet, counterpartyName: sent.label ?? undefined }
    replacements.set(keyOf(received), [{ ...received, isOwn: true, via: received.counterparty, ...from }])
  }
  if (replacements.size === 0) return (movements) => movements
  return (movements) => movements.flatMap((movement) => replacements.get(keyOf(movement)) ?? [movement])
}

const keyOf = ({ chain, wallet, entry }: Movement) => `${chain} ${wallet} ${entry}`

/** The transactions that lines of a file of labels name: the user says what they are. */
export async function labelledTransactions(file: string | undefined): Promise<Set<string>> {
  const transactions = new Set<string>()
  if (file === undefined) return transactions
  await readRecords(file, [], ({ cells }) => {
    for (const name of ['transaction', 'match']) {
      const text = (cells[name] ?? '').trim().toLowerCase()
      if (/^0x[0-9a-f]{64}$/.test(text)) transactions.add(text)
    }
  })
  return transactions
}

export const BRIDGE_COLUMNS = [
  'confidence',
  'sent_time',
  'sent_chain',
  'sent_transaction',
  'sent_wallet',
  'received_time',
  'received_chain',
  'received_transaction',
  'received_wallet',
  'asset',
  'sent',
  'received',
  'fee',
]

/** The cells of a pair in the list of bridges. */
export function bridgeCells({ sent, received, confidence, arrived }: BridgePair): string[] {
  const places = [sent, received].flatMap(({ time, chain, transaction, wallet }) => [
    time,
    chain,
    transaction,
    wallet,
  ])
  const { decimals } = sent.asset
  const amounts = [sent.value, arrived, sent.value - arrived].map(
    (value) => shiftDecimal(String(value), decimals) ?? '',
  )
  return [confidence, ...places, groupOf(sent), ...amounts]
}
