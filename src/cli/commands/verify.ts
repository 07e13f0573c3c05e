import { countBlocks } from '../../core/model/block-ranges.ts'
import { ExportError } from '../../core/model/errors.ts'
import { UPGRADE_FIX } from '../../core/table/schema-changes.ts'
import {
  formatCount,
  formatInteger,
  missingBlocksMessage,
  presentLines,
  rejectLines,
  unknownLines,
} from '../../terminal/format.ts'
import { gapLines, refusedWalletLines } from '../../terminal/incomplete-lines.ts'
import { print, printJson } from '../../terminal/print.ts'
import { type Verdict, verifyOutput } from '../../verify/export/verify-output.ts'
import { defineCommand, option } from '../command.ts'
import { outputArgument } from '../options/export-options.ts'
import { openOutput } from '../options/output-argument.ts'

const RUN_AGAIN = 'Run the same job again: it resumes where it stopped. Then verify.'

export const command = defineCommand({
  name: 'verify',
  summary: 'Re-read an export and check all of it',
  description: 'Re-read every file of an export and check all of it; exit code 0 or 10',
  arguments: [outputArgument],
  options: [option('json', 'Print the result as one JSON object on stdout')],
  run: async ({ output: outputArg, json = false }) => {
    const { output, name, store } = await openOutput(outputArg)
    const verdict = await verifyOutput(output, { store })
    const error = verdict.ok ? undefined : failureOf(name, verdict)
    if (json) printJson(verdictJson(verdict, name, error?.failure.exit ?? 0))
    else for (const line of verdictLines(name, verdict)) print(line)
    if (error !== undefined) throw error
  },
})

const COMMIT_FIX =
  'The files agree with the manifest. Run the job again: it commits what its Iceberg tables lack.'

function failureOf(output: string, { isFinished, isCurrent, isCommitted, problems }: Verdict): ExportError {
  if (!isFinished)
    return new ExportError('VERIFY_FAILED', `${output}: the run has not finished`, { fix: RUN_AGAIN })
  const message = `${output}: ${formatCount(problems.length, 'problem')} found`
  if (!isCurrent) return new ExportError('VERIFY_FAILED', message, { fix: UPGRADE_FIX })
  const isOnlyUncommitted = !isCommitted && problems.length === 1
  return new ExportError('VERIFY_FAILED', message, isOnlyUncommitted ? { fix: COMMIT_FIX } : {})
}

function verdictLines(output: string, verdict: Verdict): readonly string[] {
  const { ok, files, rows, checks, missingBlocks, topLevelCalls, problems } = verdict
  const { rejects, refusedWallets, incompleteWallets } = verdict
  const refused = [...refusedWalletLines(refusedWallets, new Map()), ...gapLines(incompleteWallets)]
  if (!ok) return [...problems, ...rejectLines(verdict), ...refused]
  const checked = `${formatCount(files, 'file')}, ${formatCount(rows, 'row')}, ${formatInteger(checks)} checks`
  const lacking = presentLines(
    refusedWallets.length > 0 && formatCount(refusedWallets.length, 'refused wallet'),
    incompleteWallets.length > 0 && formatCount(incompleteWallets.length, 'incomplete wallet'),
    rejects > 0 && formatCount(rejects, 'rejected record'),
  )
  return presentLines(
    `${output}: OK${lacking.length === 0 ? '' : `, without ${lacking.join(' and ')}`} (${checked})`,
    refused,
    [...rejectLines(verdict), ...unknownLines(verdict)].map((line) => `  ${line}`),
    topLevelCalls > 0 &&
      `  the top-level call of ${formatCount(topLevelCalls, 'transaction')} is also an internal transaction, and counts once`,
    missingBlocks.length > 0 && `  ${missingBlocksMessage(missingBlocks)}`,
  )
}

/** Public JSON format: fields may be added, but not removed or renamed. */
function verdictJson(verdict: Verdict, output: string, exit: number): object {
  const { ok, isFinished, files, rows, checks, missingBlocks, problems } = verdict
  const { refusedWallets, incompleteWallets, rejects, topLevelCalls } = verdict
  const { statusUnknown, feeUnknown, feesUpperBound } = verdict
  const incompleteness = {
    refusedWallets,
    incompleteWallets,
    missingBlocks: countBlocks(missingBlocks),
    rejects,
  }
  const unknowns = { statusUnknown, feeUnknown, feesUpperBound }
  const counts = { files, rows, checks, ...incompleteness, ...unknowns, topLevelCalls }
  return { output, exit, ok, finished: isFinished, ...counts, problems }
}
