import { findUnmatchedLines, type UnmatchedLines, type UserFiles } from '../accounting/unmatched-lines.ts'
import { formatCount } from '../terminal/format.ts'
import { openLog } from './options/log.ts'

/** Warns on stderr about lines of the user's files that apply to nothing in the exports. */
export async function warnUnmatched(outputs: readonly string[], files: UserFiles): Promise<void> {
  const log = openLog({})
  for (const unmatched of await findUnmatchedLines(outputs, files)) {
    const { file, count, first, ofOtherChains, lines } = unmatched
    if (first !== undefined) log.warn(`${unmatchedText({ file, count, first })}${othersText(ofOtherChains)}`)
    else if (lines > 0 && ofOtherChains === lines) log.info(`all lines of ${file} are of other chains`)
  }
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
