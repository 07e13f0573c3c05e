/** `Math.max` and `Math.min` of lists of any length: as arguments of a call, some 120,000 values overflow the stack. */

/** The largest of the numbers, and at least `least`. */
export function largest(numbers: Iterable<number>, minimum = Number.NEGATIVE_INFINITY): number {
  let max = minimum
  for (const number of numbers) if (number > max) max = number
  return max
}

/** The smallest of the numbers, and at most `most`. */
export function smallest(numbers: Iterable<number>, maximum = Number.POSITIVE_INFINITY): number {
  let min = maximum
  for (const number of numbers) if (number < min) min = number
  return min
}
