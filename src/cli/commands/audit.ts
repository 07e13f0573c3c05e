import { randomInt } from 'node:crypto'
import { ExportError } from '../../core/model/errors.ts'
import { formatCount, formatInteger } from '../../terminal/format.ts'
import { print, printJson } from '../../terminal/print.ts'
import { type AuditOptions, type AuditResult, auditOutput } from '../../verify/audit/audit.ts'
import { defineCommand, defineOptions, type OptionValues } from '../command.ts'
import { logOptions, throttledProgress, withSignals } from '../options/log.ts'
import { readCount } from '../options/option-parsers.ts'
import { OUTPUT_OR_JOB, openOutput } from '../options/output-argument.ts'
import { readAccessOfOutput, serviceOptions } from '../options/service.ts'
import { STARTS_OVER } from '../signals.ts'

const options = defineOptions([
  ...serviceOptions,
  { name: 'blocks', value: '<all>', choices: ['all'], description: 'Check every block instead of a sample' },
  {
    name: 'sample',
    value: '<n>',
    conflicts: ['blocks'],
    description: 'Number of blocks to check, half of them with exported transactions (default: 100)',
  },
  {
    name: 'seed',
    value: '<n>',
    conflicts: ['blocks'],
    description: 'Check the same sample again: the seed that an earlier audit printed',
  },
  ...logOptions,
  { name: 'json', description: 'Print the result as one JSON object on stdout' },
])
type AuditArguments = OptionValues<typeof options>

export const command = defineCommand({
  name: 'audit',
  summary: 'Cross-check an export against the block endpoint',
  description: 'Cross-check an export against the block endpoint of the service; exit code 0 or 10',
  arguments: [{ name: 'output', required: true, description: OUTPUT_OR_JOB }],
  options,
  examples: [['audit output/mine --sample 500', 'Check 500 blocks']],
  run: ({ output, ...args }) => audit(output, args),
})

async function audit(outputArg: string, args: AuditArguments): Promise<number> {
  const blocks = selectBlocks(args)
  const located = await openOutput(outputArg)
  const { output, name } = located
  return withSignals({ ...args, interruption: STARTS_OVER }, async ({ log, signal }) => {
    const access = await readAccessOfOutput(located, {
      args,
      operation: 'block',
      isDataApiOnly: true,
      onNotice: log.info,
    })
    const service = { ...access, signal, onDetail: log.debug, onNotice: log.info }
    const result = await auditOutput(output, { service, blocks, onProgress: throttledProgress(log) })
    const seed = blocks === 'all' ? null : blocks.seed
    if (args.json) printJson({ output: name, seed, ...result })
    else if (!args.quiet) print(verdictLines(result, { output: name, seed }))
    if (result.ok) return 0
    const mismatches = result.missing + result.surplus + result.differing
    const message = `${name}: ${formatCount(mismatches, 'transaction')} not as the block listing has it`
    const error = new ExportError('VERIFY_FAILED', message)
    log.failure(error)
    return error.failure.exit
  })
}

const SEED_LIMIT = 2 ** 32

function selectBlocks({ blocks, sample, seed }: AuditArguments): AuditOptions['blocks'] {
  const seedOption = readCount('seed', seed, { min: 0, max: SEED_LIMIT - 1 })
  const count = readCount('sample', sample, { max: 1_000_000 }) ?? 100
  return blocks === 'all' ? 'all' : { sample: count, seed: seedOption ?? randomInt(SEED_LIMIT) }
}

/** Formats the result as lines of at most 80 columns, except for problems. */
function verdictLines(
  result: AuditResult,
  { output, seed }: { output: string; seed: number | null },
): string[] {
  const { ok, blocks, unknownBlocks, compared, missing, surplus, differing, unreadable, requests } = result
  const seedHint = seed === null ? '' : `; --seed ${seed} selects the same ones again`
  return [
    ...result.problems,
    `${output}: ${ok ? 'good' : 'NOT good'} by ${formatCount(blocks, 'block')} (${formatCount(requests, 'request')}${seedHint})`,
    `  ${formatInteger(compared).padStart(9)}  exported transactions compared`,
    `  ${formatInteger(missing).padStart(9)}  missing: listed for a wallet, not exported`,
    `  ${formatInteger(surplus).padStart(9)}  surplus: exported for a wallet, not listed`,
    `  ${formatInteger(differing).padStart(9)}  differing`,
    ...(unknownBlocks > 0
      ? [
          `  ${formatInteger(unknownBlocks).padStart(9)}  further blocks unknown to the service (404), not judged`,
        ]
      : []),
    ...(unreadable > 0
      ? [`  ${formatInteger(unreadable).padStart(9)}  listed entries without a hash, not judged`]
      : []),
    '  Wallets seen through transfers alone are not judged: blocks do not list them.',
  ]
}
