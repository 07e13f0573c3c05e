import type { Command } from 'commander'
import { countBlocks } from '../../core/model/block-ranges.ts'
import { ExportError } from '../../core/model/errors.ts'
import { counted, grouped, missingWords, rejectLines, unknownLines } from '../../terminal/format.ts'
import { say, sayJson } from '../../terminal/print.ts'
import { type Verdict, verifyOutput } from '../../verify/export/verify-output.ts'
import type { Finish } from '../exit-code.ts'
import { openLog } from '../options/log.ts'
import { OUTPUT_OR_JOB, outputOf } from '../options/output-argument.ts'

const RUN_AGAIN = 'Run the same job again: it resumes where it stopped. Then verify.'

export function verifyCommand(program: Command, finish: Finish): void {
  program
    .command('verify')
    .summary('Re-read an export and check all of it')
    .description('Re-read every file of an export and check all of it; exit code 0 or 10')
    .argument('<output>', OUTPUT_OR_JOB)
    .option('--json', 'Print the result as one JSON object on stdout')
    .action(async (word: string, args: { json?: boolean }) => finish(await verify(word, args)))
}

async function verify(word: string, { json = false }: { json?: boolean }): Promise<number> {
  const { output, name } = await outputOf(word)
  const verdict = await verifyOutput(output)
  const error = verdict.ok ? undefined : failureOf(name, verdict)
  const exit = error?.failure.exit ?? 0
  if (json) sayJson(asJson(verdict, { output: name, exit }))
  else for (const line of verdictLines(name, verdict)) say(line)
  if (error !== undefined) openLog({}).failure(error)
  return exit
}

function failureOf(output: string, { isFinished, problems }: Verdict): ExportError {
  return isFinished
    ? new ExportError('VERIFY_FAILED', `${output}: ${counted(problems.length, 'problem')} found`)
    : new ExportError('VERIFY_FAILED', `${output}: the run has not finished`, { fix: RUN_AGAIN })
}

function verdictLines(output: string, verdict: Verdict): readonly string[] {
  const { ok, files, rows, checks, rejects, missingBlocks, problems } = verdict
  if (!ok) return [...problems, ...rejectLines(verdict)]
  const without = rejects === 0 ? '' : `, without ${counted(rejects, 'rejected record')}`
  const read = `${counted(files, 'file')}, ${counted(rows, 'row')}, ${grouped(checks)} checks`
  return [
    `${output}: good${without} (${read})`,
    ...[...rejectLines(verdict), ...unknownLines(verdict)].map((line) => `  ${line}`),
    ...(missingBlocks.length > 0 ? [`  ${missingWords(missingBlocks)}`] : []),
  ]
}

/** Its fields only ever grow. */
function asJson(verdict: Verdict, { output, exit }: { output: string; exit: number }): object {
  const { ok, isFinished, files, rows, checks, missingBlocks, problems } = verdict
  const { rejects, statusUnknown, feeUnknown } = verdict
  const lacks = { missingBlocks: countBlocks(missingBlocks), rejects, statusUnknown, feeUnknown }
  const counts = { files, rows, checks, ...lacks }
  return { output, exit, ok, finished: isFinished, ...counts, problems }
}
