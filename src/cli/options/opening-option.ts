import type { OpeningFindings, OpeningOption } from '../../ledger/balances/read-opening.ts'
import { formatCount } from '../../terminal/format.ts'
import { defineOptions } from '../command.ts'

/** The option `--opening`, which replaces the opening balances that are known, and `--no-opening`. */
export const openingOptions = defineOptions([
  {
    name: 'opening',
    value: '<file>',
    negatable: true,
    description:
      'CSV file of opening balances (see `balances --template`; with a column chain for several chains), instead of those that `reconcile` learned; --no-opening uses none',
  },
])

/** Warnings about the lines of a file of opening balances. */
export function openingLines(file: OpeningOption, findings: OpeningFindings): string[] {
  if (typeof file !== 'string') return []
  const { unfilled, ofOtherChains, withoutRows } = findings
  const named = withoutRows.slice(0, MAX_NAMED).map(({ line, asset }) => {
    const parts = [asset.type, asset.address, asset.tokenId].filter((part) => part !== null)
    return `${file}:${line}: ${parts.join(' ')}`
  })
  const more = withoutRows.length - named.length
  return [
    ...unfilledLines(file, unfilled),
    ...(ofOtherChains === 0
      ? []
      : [`${formatCount(ofOtherChains, 'line')} of ${file} of other chains: skipped`]),
    ...(withoutRows.length === 0
      ? []
      : [
          `${formatCount(withoutRows.length, 'line')} of ${file} of assets that the export has no rows of; they count:`,
          ...named,
          ...(more > 0 ? [`and ${formatCount(more, 'line')} more`] : []),
        ]),
  ]
}

/** Maximum number of lines that are named. */
const MAX_NAMED = 5

/** A warning about the lines of a file of balances that were skipped because they have neither an amount nor a value. */
export function unfilledLines(file: string | undefined, count: number): string[] {
  return count === 0 ? [] : [`${formatCount(count, 'line')} of ${file} without an amount or a value: skipped`]
}
