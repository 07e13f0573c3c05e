import { type CompactionResult, compactOutput } from '../../files/compact.ts'
import { outputName } from '../../storage/bucket-url.ts'
import { formatCount } from '../../terminal/format.ts'
import { print } from '../../terminal/print.ts'
import { defineCommand, option } from '../command.ts'
import { outputArgument } from '../options/export-options.ts'
import { locateOutput } from '../options/output-argument.ts'
import { count } from '../options/parsers.ts'

export const command = defineCommand({
  name: 'compact',
  summary: 'Merge the small files of incremental runs',
  arguments: [outputArgument],
  options: [option('max-rows-per-file <n>', 'Maximum rows per file (default: 1000000)', { parse: count() })],
  run: async ({ output, maxRowsPerFile }) => {
    const location = await locateOutput(output)
    const result = await compactOutput(location, maxRowsPerFile === undefined ? {} : { maxRowsPerFile })
    print(`${outputName(location)}: ${formatResult(result)}`)
  },
})

function formatResult({ before, after, changed, orphans }: CompactionResult): string {
  const message = changed
    ? `${formatCount(before, 'file')} became ${after}`
    : `nothing to merge (${formatCount(after, 'file')})`
  return orphans === 0
    ? message
    : `${message}; removed ${formatCount(orphans, 'file')} that the manifest did not list`
}
