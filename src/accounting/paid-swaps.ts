import { isNft } from '../core/model/asset.ts'
import { isClaim } from './import-rows.ts'
import { assetKey, type Movement } from './movement.ts'
import { matchMultisends } from './multisends.ts'
import { ruleOf } from './protocols/rule-of.ts'

/** Finds the own transfers that pass through contracts. Sums do not change. */
export const matchOwnTransfers = (movements: readonly Movement[]): readonly Movement[] =>
  matchPaidSwaps(matchMultisends(movements))

/**
 * Makes a swap and an own transfer of a swap that pays another wallet of the job: the wallet that sent the transaction receives
 * what it bought, and passes it on. The movements that this adds get the id of the entry of the receipt with `-2` and `-3`.
 * They are apart from the others of their wallet, which make the swap.
 */
function matchPaidSwaps(movements: readonly Movement[]): readonly Movement[] {
  if (movements.every(({ wallet }) => wallet === movements[0]?.wallet)) return movements
  const transactions = new Map<string, Movement[]>()
  for (const movement of movements) {
    const ofTransaction = transactions.get(movement.transaction)
    if (ofTransaction === undefined) transactions.set(movement.transaction, [movement])
    else ofTransaction.push(movement)
  }
  return [...transactions.values()].flatMap(matchPaidSwap)
}

function matchPaidSwap(movements: readonly Movement[]): readonly Movement[] {
  const payer = movements.find(({ type }) => type === 'fee')
  const ofPayer = movements.filter(({ wallet }) => wallet === payer?.wallet)
  const receipts = movements.filter(({ wallet }) => wallet !== payer?.wallet)
  if (payer === undefined || !isPaidSwap(ofPayer, receipts)) return movements
  const { wallet, label } = payer
  const bought = receipts.map((receipt) => ({ ...receipt, wallet, label, entry: `${receipt.entry}-2` }))
  const passedOn = receipts.map((receipt) => ({
    ...ownSide(receipt, receipt),
    wallet,
    label,
    isOut: true,
    entry: `${receipt.entry}-3`,
  }))
  return [...ofPayer, ...bought, ...receipts.map((receipt) => ownSide(receipt, payer)), ...passedOn]
}

/** The side of an own transfer whose other side is the wallet of `other`. */
const ownSide = (movement: Movement, { wallet, label }: Movement): Movement => ({
  ...movement,
  counterparty: wallet,
  counterpartyName: label ?? undefined,
  via: movement.counterparty,
  isOwn: true,
})

/**
 * Whether a wallet sent one asset in a transaction of its own, and one other wallet received one other asset and nothing else,
 * both fungible. Claims, and deposits to pools or withdrawals from them, are no swaps.
 */
function isPaidSwap(ofPayer: readonly Movement[], receipts: readonly Movement[]): boolean {
  const paid = ofPayer.filter(({ type }) => type !== 'fee')
  const [sent] = paid
  const [received] = receipts
  if (sent === undefined || received === undefined || ruleOf(paid) !== undefined) return false
  const isPlain = ({ type, isOwn, asset, counterparty }: Movement) =>
    type === 'transfer' && !isOwn && !isNft(asset) && counterparty !== null
  const net = paid.reduce((sum, { isOut, value }) => (isOut ? sum + value : sum - value), 0n)
  return (
    [...paid, ...receipts].every(isPlain) &&
    paid.every(({ asset }) => assetKey(asset) === assetKey(sent.asset)) &&
    receipts.every(
      ({ isOut, wallet, asset }) =>
        !isOut && wallet === received.wallet && assetKey(asset) === assetKey(received.asset),
    ) &&
    net > 0n &&
    assetKey(sent.asset) !== assetKey(received.asset) &&
    !isClaim(sent.method)
  )
}
