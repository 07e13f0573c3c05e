import { type CompactionResult, compactOutput } from '../../files/compact/compact.ts'
import { outputName } from '../../storage/bucket-url.ts'
import { formatCount } from '../../terminal/format.ts'
import { print } from '../../terminal/print.ts'
import { defineCommand } from '../command.ts'
import { readCount } from '../options/option-parsers.ts'
import { locateOutput, OUTPUT_OR_JOB } from '../options/output-argument.ts'

export const command = defineCommand({
  name: 'compact',
  summary: 'Merge the small files of incremental runs',
  arguments: [{ name: 'output', required: true, description: OUTPUT_OR_JOB }],
  options: [
    { name: 'max-rows-per-file', value: '<n>', description: 'Maximum rows per file (default: 1000000)' },
  ],
  run: ({ output, ...args }) => compact(output, args),
})

async function compact(outputArg: string, args: { maxRowsPerFile?: string }): Promise<void> {
  const maxRowsPerFile = readCount('max-rows-per-file', args.maxRowsPerFile)
  const options = maxRowsPerFile === undefined ? {} : { maxRowsPerFile }
  const location = await locateOutput(outputArg)
  print(`${outputName(location)}: ${formatResult(await compactOutput(location, options))}`)
}

function formatResult({ before, after, changed, orphans }: CompactionResult): string {
  const message = changed
    ? `${formatCount(before, 'file')} became ${after}`
    : `nothing to merge (${formatCount(after, 'file')})`
  return orphans === 0
    ? message
    : `${message}; removed ${formatCount(orphans, 'file')} that the manifest did not list`
}
