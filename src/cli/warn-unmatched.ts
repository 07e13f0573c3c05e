import { findUnmatchedLines, type UnmatchedLines, type UserFiles } from '../accounting/unmatched-lines.ts'
import { formatCount } from '../terminal/format.ts'
import { oneLine } from '../terminal/log.ts'
import { openLog } from './options/log.ts'

/** Warns on stderr about lines of the user's files that apply to nothing in the exports. */
export async function warnUnmatched(outputs: readonly string[], files: UserFiles): Promise<void> {
  const log = openLog({})
  for (const unmatched of await findUnmatchedLines(outputs, files)) {
    const { file, count, first, ofOtherChains, lines, overridden } = unmatched
    if (overridden.length > 0) log.warn(overriddenText(file, overridden))
    if (first !== undefined) log.warn(`${unmatchedText({ file, count, first })}${othersText(ofOtherChains)}`)
    else if (lines > 0 && ofOtherChains === lines) log.info(`all lines of ${file} are of other chains`)
  }
}

function overriddenText(file: string, overridden: UnmatchedLines['overridden']): string {
  const [first] = overridden
  const count = formatCount(overridden.length, 'line')
  const place = `${first?.match} in line ${first?.line}, whose label is ${oneLine(first?.label ?? '')}`
  return `${count} of ${file} ignored, because labels of wallets take precedence: ${overridden.length === 1 ? '' : 'the first is '}${place}`
}

/** States how many lines of a file matched nothing, and the first of them. */
export function unmatchedText({
  file,
  count,
  first,
}: {
  file: string
  count: number
  first: NonNullable<UnmatchedLines['first']>
}): string {
  const place = `${first.match} in line ${first.line}`
  return `${formatCount(count, 'line')} of ${file} matched nothing: ${count === 1 ? '' : 'the first is '}${place}`
}

const othersText = (count: number) =>
  count === 0 ? '' : ` (not counting ${formatCount(count, 'line')} of other chains)`
