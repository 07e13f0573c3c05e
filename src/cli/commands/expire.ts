import { expireOutput } from '../../iceberg/index.ts'
import { outputName } from '../../storage/bucket-url.ts'
import { formatCount } from '../../terminal/format.ts'
import { print } from '../../terminal/print.ts'
import { defineCommand } from '../command.ts'
import { readDuration } from '../options/option-parsers.ts'
import { locateOutput, OUTPUT_OR_JOB } from '../options/output-argument.ts'

export const command = defineCommand({
  name: 'expire',
  summary: 'Remove old snapshots of Iceberg tables',
  description:
    'Remove snapshots of Iceberg tables (table: iceberg), and the files that only they refer to. Without --apply, only list what would be removed.',
  arguments: [{ name: 'output', required: true, description: OUTPUT_OR_JOB }],
  options: [
    {
      name: 'older-than',
      value: '<duration>',
      description: 'Remove snapshots that are older; the current ones stay (default: 7d)',
    },
    { name: 'apply', description: 'Remove them' },
  ],
  run: ({ output, ...args }) => expire(output, args),
})

async function expire(
  outputArg: string,
  { olderThan = '7d', apply = false }: { olderThan?: string; apply?: boolean },
): Promise<void> {
  const ageMs = readDuration('older-than', olderThan) ?? 0
  const location = await locateOutput(outputArg)
  const options = { beforeMs: Date.now() - ageMs, isDryRun: !apply }
  const { snapshots, files } = await expireOutput(location, options)
  const what = `${formatCount(snapshots, 'snapshot')} and ${formatCount(files.length, 'file')}`
  if (!apply) for (const file of files) print(file)
  print(
    apply
      ? `${outputName(location)}: removed ${what}`
      : `${outputName(location)}: --apply would remove ${what}`,
  )
}
