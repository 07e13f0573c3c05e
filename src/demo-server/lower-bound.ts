/** Index of the first number that passes, where all after it pass too; the length where none does. */
export function firstAt(numbers: readonly number[], passes: (number: number) => boolean): number {
  let low = 0
  let high = numbers.length
  while (low < high) {
    const middle = (low + high) >>> 1
    if (passes(numbers[middle] as number)) high = middle
    else low = middle + 1
  }
  return low
}
