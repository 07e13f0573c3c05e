import type { Command } from 'commander'
import { ExportError } from '../core/errors.ts'
import { say } from '../report/say.ts'
import { counted, grouped, missingWords } from '../report/words.ts'
import { verifyOutput } from '../verify/verify-output.ts'
import type { Finish } from './finish.ts'
import { openLog } from './log.ts'
import { OUTPUT_OR_JOB, outputOf } from './output-of.ts'

const RUN_AGAIN = 'Run the same job again: it resumes where it stopped. Then verify.'

export function verifyCommand(program: Command, finish: Finish): void {
  program
    .command('verify')
    .description('re-read an export and check everything; exit 0 or 10')
    .argument('<output>', OUTPUT_OR_JOB)
    .action(async (word: string) => finish(await verify(word)))
}

async function verify(word: string): Promise<number> {
  const { output } = await outputOf(word)
  const { ok, isFinished, files, rows, checks, missingBlocks, problems } = await verifyOutput(output)
  if (ok) {
    const read = `${counted(files, 'file')}, ${counted(rows, 'row')}, ${grouped(checks)} checks`
    say(`${output}: good (${read})`)
    if (missingBlocks.length > 0) say(`  ${missingWords(missingBlocks)}`)
    return 0
  }
  for (const problem of problems) say(problem)
  const error = isFinished
    ? new ExportError('VERIFY_FAILED', `${output}: ${counted(problems.length, 'problem')} found`)
    : new ExportError('VERIFY_FAILED', `${output}: the run has not finished`, { fix: RUN_AGAIN })
  openLog({}).failure(error)
  return error.failure.exit
}
