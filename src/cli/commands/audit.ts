import { randomInt } from 'node:crypto'
import { ExportError } from '../../core/model/errors.ts'
import { formatCount, formatInteger, presentLines } from '../../terminal/format.ts'
import { print, printJson } from '../../terminal/print.ts'
import { type AuditResult, auditOutput } from '../../verify/audit/audit.ts'
import { defineCommand, option } from '../command.ts'
import { outputArgument } from '../options/export-options.ts'
import { logOptions, throttledProgress } from '../options/log.ts'
import { openOutput } from '../options/output-argument.ts'
import { count } from '../options/parsers.ts'
import { serviceOptions, withService } from '../options/service.ts'
import { STARTS_OVER } from '../signals.ts'

const SEED_LIMIT = 2 ** 32

export const command = defineCommand({
  name: 'audit',
  summary: 'Cross-check an export against the block endpoint',
  description: 'Cross-check an export against the block endpoint of the service; exit code 0 or 10',
  arguments: [outputArgument],
  options: [
    ...serviceOptions,
    option('all', 'Check every block instead of a sample'),
    { ...option('blocks <all>', 'The same', { choices: ['all'] }), hidden: true },
    option(
      'sample <n>',
      'Number of blocks to check, half of them with exported transactions (default: 100)',
      {
        conflicts: ['all', 'blocks'],
        parse: count({ max: 1_000_000 }),
      },
    ),
    option('seed <n>', 'Check the same sample again: the seed that an earlier audit printed', {
      conflicts: ['all', 'blocks'],
      parse: count({ min: 0, max: SEED_LIMIT - 1 }),
    }),
    ...logOptions,
    option('json', 'Print the result as one JSON object on stdout'),
  ],
  examples: [['audit output/mine --sample 500', 'Check 500 blocks']],
  run: async ({ output: outputArg, ...args }) => {
    const { sample = 100, seed = randomInt(SEED_LIMIT) } = args
    const blocks = args.all ? 'all' : (args.blocks ?? { sample, seed })
    const located = await openOutput(outputArg)
    const { output, name } = located
    const access = { args, operation: 'block', isDataApiOnly: true, interruption: STARTS_OVER } as const
    const result = await withService(located, access, ({ service, log }) =>
      auditOutput(output, { service, blocks, onProgress: throttledProgress(log) }),
    )
    const usedSeed = blocks === 'all' ? null : seed
    if (args.json) printJson({ output: name, seed: usedSeed, ...result })
    else if (!args.quiet) print(verdictLines(result, name, usedSeed))
    if (result.ok) return
    const mismatches = formatCount(result.missing + result.surplus + result.differing, 'transaction')
    throw new ExportError('VERIFY_FAILED', `${name}: ${mismatches} not as the block listing has it`)
  },
})

/** Formats the result as lines of at most 80 columns, except for problems. */
function verdictLines(result: AuditResult, output: string, seed: number | null): string[] {
  const { ok, blocks, unknownBlocks, compared, missing, surplus, differing, unreadable, requests } = result
  const seedHint = seed === null ? '' : `; --seed ${seed} selects the same ones again`
  const line = (number: number, text: string) => `  ${formatInteger(number).padStart(9)}  ${text}`
  return presentLines(
    result.problems,
    `${output}: ${ok ? 'OK' : 'not OK'} by ${formatCount(blocks, 'block')} (${formatCount(requests, 'request')}${seedHint})`,
    line(compared, 'exported transactions compared'),
    line(missing, 'missing: listed for a wallet, not exported'),
    line(surplus, 'surplus: exported for a wallet, not listed'),
    line(differing, 'differing'),
    unknownBlocks > 0 && line(unknownBlocks, 'further blocks unknown to the service (404), not judged'),
    unreadable > 0 && line(unreadable, 'listed entries without a hash, not judged'),
    '  Wallets seen through transfers alone are not judged: blocks do not list them.',
  )
}
