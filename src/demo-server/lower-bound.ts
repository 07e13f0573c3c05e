/**
 * Binary search: the index of the first number that satisfies the predicate, or the length if none does. All numbers after
 * it must satisfy it too.
 */
export function lowerBound(numbers: readonly number[], predicate: (number: number) => boolean): number {
  let low = 0
  let high = numbers.length
  while (low < high) {
    const middle = (low + high) >>> 1
    if (predicate(numbers[middle] as number)) high = middle
    else low = middle + 1
  }
  return low
}
