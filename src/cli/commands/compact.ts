import type { Command } from 'commander'
import { type Compacted, compactOutput } from '../../files/compact/compact.ts'
import { nameOfOutput } from '../../storage/bucket-url.ts'
import { counted } from '../../terminal/format.ts'
import { say } from '../../terminal/print.ts'
import { readCount } from '../options/option-parsers.ts'
import { OUTPUT_OR_JOB, placeOf } from '../options/output-argument.ts'

export function compactCommand(program: Command): void {
  program
    .command('compact')
    .description('Merge the small files of incremental runs')
    .argument('<output>', OUTPUT_OR_JOB)
    .option('--max-rows-per-file <n>', 'Maximum rows per file (default: 1000000)')
    .action(compact)
}

async function compact(word: string, args: { maxRowsPerFile?: string }): Promise<void> {
  const maxRowsPerFile = readCount('max-rows-per-file', args.maxRowsPerFile)
  const options = maxRowsPerFile === undefined ? {} : { maxRowsPerFile }
  const place = await placeOf(word)
  say(`${nameOfOutput(place)}: ${tell(await compactOutput(place, options))}`)
}

function tell({ before, after, changed, strays }: Compacted): string {
  const what = changed
    ? `${counted(before, 'file')} became ${after}`
    : `nothing to merge (${counted(after, 'file')})`
  return strays === 0 ? what : `${what}; removed ${counted(strays, 'file')} that the manifest did not list`
}
