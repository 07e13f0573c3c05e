/** `Math.max` and `Math.min` of lists of any length: as arguments of a call, some 120,000 values overflow the stack. */

/** The largest of the numbers, and at least `least`. */
export function largest(numbers: Iterable<number>, least = Number.NEGATIVE_INFINITY): number {
  let found = least
  for (const each of numbers) if (each > found) found = each
  return found
}

/** The smallest of the numbers, and at most `most`. */
export function smallest(numbers: Iterable<number>, most = Number.POSITIVE_INFINITY): number {
  let found = most
  for (const each of numbers) if (each < found) found = each
  return found
}
