/** `Math.max` and `Math.min` for lists of any length: about 120,000 arguments overflow the stack. */

/** The largest number, but at least `minimum`. */
export function largest(numbers: Iterable<number>, minimum = Number.NEGATIVE_INFINITY): number {
  let max = minimum
  for (const number of numbers) if (number > max) max = number
  return max
}

/** The smallest number, but at most `maximum`. */
export function smallest(numbers: Iterable<number>, maximum = Number.POSITIVE_INFINITY): number {
  let min = maximum
  for (const number of numbers) if (number < min) min = number
  return min
}
