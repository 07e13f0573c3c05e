import { formatCount } from '../terminal/format.ts'

/** A warning about the lines of a file of balances that were skipped because they have neither an amount nor a value. */
export function unfilledLines(file: string | undefined, count: number): string[] {
  return count === 0 ? [] : [`${formatCount(count, 'line')} of ${file} without an amount or a value: skipped`]
}
