import type { CommandModule } from 'yargs'
import { ExportError } from '../core/errors.ts'
import { createLog } from '../report/log.ts'
import { say } from '../report/say.ts'
import { counted, grouped, missingWords } from '../report/words.ts'
import { verifyOutput } from '../verify/verify-output.ts'
import { OUTPUT_OR_JOB, outputOf } from './output-of.ts'

const RUN_AGAIN = 'Run the same job again: it resumes where it stopped. Then verify.'

export function verifyCommand(finish: (exit: number) => void): CommandModule<object, { output: string }> {
  return {
    command: 'verify <output>',
    describe: 're-read an export and check everything; exit 0 or 10',
    builder: (argv) =>
      argv.positional('output', { describe: OUTPUT_OR_JOB, type: 'string', demandOption: true }),
    handler: async ({ output: word }) => {
      const { output } = await outputOf(word)
      const { ok, isFinished, files, rows, checks, missingBlocks, problems } = await verifyOutput(output)
      if (ok) {
        const read = `${counted(files, 'file')}, ${counted(rows, 'row')}, ${grouped(checks)} checks`
        say(`${output}: good (${read})`)
        if (missingBlocks.length > 0) say(`  ${missingWords(missingBlocks)}`)
        return
      }
      for (const problem of problems) say(problem)
      const error = isFinished
        ? new ExportError('VERIFY_FAILED', `${output}: ${counted(problems.length, 'problem')} found`)
        : new ExportError('VERIFY_FAILED', `${output}: the run has not finished`, { fix: RUN_AGAIN })
      const write = (line: string) => process.stderr.write(`${line}\n`)
      createLog({ format: 'pretty', level: 'error', write }).failure(error)
      finish(error.failure.exit)
    },
  }
}
