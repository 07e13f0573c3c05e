import { assetKey, type Movement } from './movement.ts'

/** A payment to a contract that pays other wallets of the job in the same transaction. */
type Multisend = { payment: Movement; payouts: readonly Movement[] }

/**
 * Makes own transfers of the payments that a wallet of the job makes to others through a multisend contract. The payment
 * is split: each payout has a part of its own, and the remainder stays a payment to the contract. The first part keeps
 * the id of the entry; the others get it with `-2`, `-3` and so on. Sums do not change.
 */
export function matchMultisends(movements: readonly Movement[]): readonly Movement[] {
  if (movements.every(({ wallet }) => wallet === movements[0]?.wallet)) return movements
  const replacements = new Map<Movement, Movement[]>()
  for (const { payment, payouts } of findMultisends(movements)) {
    replacements.set(payment, splitPayment(payment, payouts))
    for (const payout of payouts) replacements.set(payout, [ownTransfer(payout, payment)])
  }
  if (replacements.size === 0) return movements
  return movements.flatMap((movement) => replacements.get(movement) ?? [movement])
}

/**
 * Finds the multisends of transactions: exactly one payment of an asset to a contract, which pays at most its amount to
 * wallets of the job, refunds included. The payer receives nothing but refunds of what it sent, and the other wallets
 * send nothing: otherwise, the payment could be for something else.
 */
function findMultisends(movements: readonly Movement[]): Multisend[] {
  const byContract = new Map<string, Movement[]>()
  for (const movement of movements.filter(isTransfer)) {
    const key = [movement.transaction, movement.counterparty, assetKey(movement.asset)].join()
    byContract.set(key, [...(byContract.get(key) ?? []), movement])
  }
  return [...byContract.values()].flatMap((transfers) => {
    const [payment, ...others] = transfers.filter(({ isOut }) => isOut)
    const received = transfers.filter(({ isOut }) => !isOut)
    if (payment === undefined || others.length > 0 || sumOf(received) > payment.value) return []
    const payouts = received.filter(({ wallet }) => wallet !== payment.wallet)
    const isCertain =
      receivesOnlyRefunds(payment, movements) && payouts.every((payout) => sendsNothing(payout, movements))
    return payouts.length > 0 && isCertain ? [{ payment, payouts }] : []
  })
}

/** Whether a movement is a transfer to or from an address that is no wallet of the job. */
const isTransfer = ({ type, isOwn, counterparty, value }: Movement) =>
  type === 'transfer' && !isOwn && counterparty !== null && value > 0n

const sumOf = (movements: readonly Movement[]) => movements.reduce((sum, { value }) => sum + value, 0n)

function receivesOnlyRefunds(payment: Movement, movements: readonly Movement[]): boolean {
  const ofWallet = movementsBeside(payment, movements)
  const sent = new Set(ofWallet.flatMap(({ isOut, asset }) => (isOut ? [assetKey(asset)] : [])))
  return ofWallet.every(({ isOut, asset }) => isOut || sent.has(assetKey(asset)))
}

const sendsNothing = (payout: Movement, movements: readonly Movement[]) =>
  movementsBeside(payout, movements).every(({ isOut }) => !isOut)

/** The movements of the same wallet and transaction, without fees. */
const movementsBeside = ({ wallet, transaction }: Movement, movements: readonly Movement[]) =>
  movements.filter(
    (other) => other.wallet === wallet && other.transaction === transaction && other.type !== 'fee',
  )

function splitPayment(payment: Movement, payouts: readonly Movement[]): Movement[] {
  const remainder = payment.value - sumOf(payouts)
  const parts = payouts.map((payout) => ({ ...ownTransfer(payment, payout), value: payout.value }))
  if (remainder > 0n) parts.push({ ...payment, value: remainder })
  return parts.map((part, at) => (at === 0 ? part : { ...part, entry: `${part.entry}-${at + 1}` }))
}

const ownTransfer = (movement: Movement, { wallet, label }: Movement): Movement => ({
  ...movement,
  counterparty: wallet,
  counterpartyName: label ?? undefined,
  via: movement.counterparty,
  isOwn: true,
})
