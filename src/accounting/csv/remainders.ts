import { shiftDecimal } from '../../core/platform/decimal.ts'
import type { NumberRules } from '../format-amount.ts'
import type { Leg } from '../import-rows.ts'

/** The accounts of an amount, as the file names them; a transfer between own wallets in one line has both. */
export type Accounts = { from?: string; to?: string }

/** The exact balance minus the one that the program computes from the lines, in units of 10^-`decimals`. */
type Remainder = { value: bigint; decimals: number }

/**
 * Rounds amounts to the decimals of a format so that the balance of each account and asset in the program is the exact balance,
 * rounded down. If each amount were cut off on its own, the file could sell more of an asset than it bought: 0.6 units of the
 * last decimal received twice are 0, but 1.2 sent are 1. If the program reads numbers as floating point, what it reads counts.
 *
 * The line of a transfer between own wallets has one amount for two accounts. It is that of the sender, unless the receiver's
 * balance in the program would exceed the exact one and the sender can keep the unit. In either case no balance is below zero
 * because of rounding.
 */
export class Remainders {
  readonly #decimals: number
  readonly #readsFloats: boolean
  readonly #remainders = new Map<string, Remainder>()

  constructor({ maxDecimals = 255, readsFloats = false }: NumberRules) {
    this.#decimals = maxDecimals
    this.#readsFloats = readsFloats
  }

  /** Returns the rounded amount, in the smallest unit of the asset. Call it in the order of the file. */
  round({ asset: { decimals }, value }: Leg, { asset, from, to }: Accounts & { asset: string }): bigint {
    if (decimals === null || (decimals <= this.#decimals && !this.#readsFloats)) return value
    const [sender, receiver] = [this.#remainderOf(from, asset), this.#remainderOf(to, asset)]
    const scale = Math.max(decimals, this.#decimals, sender?.decimals ?? 0, receiver?.decimals ?? 0)
    for (const remainder of [sender, receiver]) if (remainder !== undefined) rescale(remainder, scale)
    const exact = value * powerOfTen(scale - decimals)
    const amount = this.#amountOf(exact, { sender, receiver, decimals, scale })
    const read = this.#read(amount, scale)
    if (sender !== undefined) sender.value += read - exact
    if (receiver !== undefined) receiver.value += exact - read
    return amount / powerOfTen(scale - decimals)
  }

  /** The amount that is written, a multiple of both the last decimal of the format and the smallest unit of the asset. */
  #amountOf(
    exact: bigint,
    {
      sender,
      receiver,
      decimals,
      scale,
    }: { sender: Remainder | undefined; receiver: Remainder | undefined; decimals: number; scale: number },
  ): bigint {
    const step = powerOfTen(scale - Math.min(decimals, this.#decimals))
    if (sender === undefined)
      return exact % step === 0n ? exact : roundDown(exact + (receiver?.value ?? 0n), step)
    // The balance in the program is a multiple of its last decimal. If it exceeds -1 of it, it is not below zero.
    const unit = powerOfTen(scale - this.#decimals)
    const missingOf = (amount: bigint) => sender.value - exact + this.#read(amount, scale) - unit + 1n
    let amount = roundDown(exact - sender.value + unit - 1n, step)
    for (let missing = missingOf(amount); amount > 0n && missing > 0n; missing = missingOf(amount))
      amount = roundDown(amount - missing, step)
    const canKeepUnit = sender.value - exact + amount > 0n
    return receiver !== undefined && receiver.value + exact < amount && canKeepUnit ? amount - step : amount
  }

  /** The amount that the program reads, in units of 10^-`scale`. */
  #read(amount: bigint, scale: number): bigint {
    if (!this.#readsFloats) return amount
    const text = shiftDecimal(String(amount), scale) ?? ''
    return unitsOfFloat(text, this.#decimals) * powerOfTen(scale - this.#decimals)
  }

  #remainderOf(account: string | undefined, asset: string): Remainder | undefined {
    if (account === undefined) return undefined
    const key = `${account}\n${asset}`
    let remainder = this.#remainders.get(key)
    if (remainder === undefined) {
      remainder = { value: 0n, decimals: 0 }
      this.#remainders.set(key, remainder)
    }
    return remainder
  }
}

/** Two chains can have assets of the same name with different decimals. */
function rescale(remainder: Remainder, decimals: number): void {
  remainder.value *= powerOfTen(decimals - remainder.decimals)
  remainder.decimals = decimals
}

/** What Python's `f'{float(text):.11f}'` reads, for any number of decimals, in units of the last one. */
export const unitsOfFloat = (text: string, decimals: number): bigint =>
  // A multiplication by a power of two is exact, and no amount has bits below 2^-96.
  roundHalfEven(BigInt(Number(text) * 2 ** 96) * powerOfTen(decimals), 2n ** 96n)

/** Powers of ten by exponent. Each row needs several of them. */
const POWERS = Array.from({ length: 256 }, (_, exponent) => 10n ** BigInt(exponent))
const powerOfTen = (exponent: number): bigint => POWERS[exponent] ?? 10n ** BigInt(exponent)

/** The largest multiple of a step that is not above a value; 0 if that is negative. */
const roundDown = (value: bigint, step: bigint): bigint => (value < 0n ? 0n : value - (value % step))

/** Division to the nearest integer, and to the even one of two. */
function roundHalfEven(value: bigint, divisor: bigint): bigint {
  const [quotient, twice] = [value / divisor, (value % divisor) * 2n]
  const isUp = twice > divisor || (twice === divisor && quotient % 2n === 1n)
  return isUp ? quotient + 1n : quotient
}
