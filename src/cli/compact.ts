import type { CommandModule } from 'yargs'
import { type Compacted, compactOutput } from '../compact/compact.ts'
import { ExportError } from '../core/errors.ts'
import { counted } from '../report/words.ts'
import { OUTPUT_OR_JOB, outputOf } from './output-of.ts'

type CompactArguments = { output: string; maxRowsPerFile?: string | undefined }

export function compactCommand(): CommandModule<object, CompactArguments> {
  return {
    command: 'compact <output>',
    describe: 'merge the small files of many runs into few',
    builder: (argv) =>
      argv
        .positional('output', { describe: OUTPUT_OR_JOB, type: 'string', demandOption: true })
        .option('max-rows-per-file', {
          type: 'string',
          describe: 'rows in a file, at most [default: 1000000]',
          requiresArg: true,
        }),
    handler: async ({ output: word, maxRowsPerFile }) => {
      const options = maxRowsPerFile === undefined ? {} : { maxRowsPerFile: parseRows(maxRowsPerFile) }
      const { output } = await outputOf(word)
      process.stdout.write(`${output}: ${tell(await compactOutput(output, options))}\n`)
    },
  }
}

function tell({ before, after, changed, strays }: Compacted): string {
  const what = changed
    ? `${counted(before, 'file')} became ${after}`
    : `nothing to merge (${counted(after, 'file')})`
  return strays === 0 ? what : `${what}; removed ${counted(strays, 'file')} that the manifest did not list`
}

function parseRows(text: string): number {
  if (/^[1-9]\d{0,14}$/.test(text)) return Number(text)
  throw new ExportError('USAGE', `--max-rows-per-file: found ${text}, expected a whole number from 1`)
}
