import { outputName } from '../../storage/bucket-url.ts'
import { formatCount } from '../../terminal/format.ts'
import { print } from '../../terminal/print.ts'
import { defineCommand, option } from '../command.ts'
import { outputArgument } from '../options/export-options.ts'
import { locateOutput } from '../options/output-argument.ts'
import { duration } from '../options/parsers.ts'

const WEEK_MS = 7 * 86_400_000

export const command = defineCommand({
  name: 'expire',
  summary: 'Remove old snapshots of Iceberg tables',
  description:
    'Remove snapshots of Iceberg tables (table: iceberg), and the files that only they refer to. Without --apply, only list what would be removed.',
  arguments: [outputArgument],
  options: [
    option('older-than <duration>', 'Age of the snapshots; the current ones stay (default: 7d)', {
      parse: duration,
    }),
    option('apply', 'Remove them'),
  ],
  run: async ({ output, olderThan = WEEK_MS, apply = false }) => {
    const location = await locateOutput(output)
    // Loaded lazily: the help of the program does not need the encoder of Avro files.
    const { expireOutput } = await import('../../iceberg/index.ts')
    const { snapshots, files } = await expireOutput(location, {
      beforeMs: Date.now() - olderThan,
      isDryRun: !apply,
    })
    if (!apply) for (const file of files) print(file)
    const what = `${formatCount(snapshots, 'snapshot')} and ${formatCount(files.length, 'file')}`
    print(`${outputName(location)}: ${apply ? 'removed' : '--apply would remove'} ${what}`)
  },
})
