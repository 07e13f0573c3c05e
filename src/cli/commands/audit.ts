import { randomInt } from 'node:crypto'
import { type Command, Option } from 'commander'
import { ExportError } from '../../core/model/errors.ts'
import { counted, grouped } from '../../terminal/format.ts'
import { say, sayJson } from '../../terminal/print.ts'
import { type AuditOptions, type AuditResult, auditOutput } from '../../verify/audit/audit.ts'
import { addExamples } from '../examples.ts'
import type { Finish } from '../exit-code.ts'
import { type LogArguments, logOptions, progressOn, withSignals } from '../options/log.ts'
import { readCount } from '../options/option-parsers.ts'
import { OUTPUT_OR_JOB, outputOf } from '../options/output-argument.ts'
import { accessOfOutput, type ServiceArguments, serviceOptions } from '../options/service.ts'

type AuditArguments = ServiceArguments &
  LogArguments & { blocks?: 'all'; sample?: string; seed?: string; json?: boolean }

export function auditCommand(program: Command, finish: Finish): void {
  const command = program
    .command('audit')
    .summary('Cross-check an export against the block endpoint')
    .description('Cross-check an export against the block endpoint of the API; exit code 0 or 10')
    .argument('<output>', OUTPUT_OR_JOB)
  serviceOptions(command)
    .addOption(new Option('--blocks <all>', 'Check every block instead of a sample').choices(['all']))
    .addOption(
      new Option(
        '--sample <n>',
        'Number of blocks to check, half of them with exported transactions (default: 100)',
      ).conflicts('blocks'),
    )
    .addOption(
      new Option(
        '--seed <n>',
        'Check the same sample again: the seed that an earlier audit printed',
      ).conflicts('blocks'),
    )
  logOptions(command).option('--json', 'Print the result as one JSON object on stdout')
  addExamples(command, ['audit output/mine --sample 500', 'Check 500 blocks'])
  command.action(async (word: string, args: AuditArguments) => finish(await audit(word, args)))
}

async function audit(word: string, args: AuditArguments): Promise<number> {
  const blocks = chooseBlocks(args)
  const named = await outputOf(word)
  const { output, name } = named
  return withSignals(args, async ({ log, signal }) => {
    const access = await accessOfOutput(named, { args, onNotice: log.info })
    const service = { ...access, signal, onDetail: log.debug, onNotice: log.info }
    const result = await auditOutput(output, { service, blocks, onProgress: progressOn(log) })
    const seed = blocks === 'all' ? null : blocks.seed
    if (args.json) sayJson({ output: name, seed, ...result })
    else if (!args.quiet) say(verdictLines(result, { output: name, seed }))
    if (result.ok) return 0
    const wrong = result.missing + result.surplus + result.differing
    const what = `${name}: ${counted(wrong, 'transaction')} not as the block listing has it`
    const error = new ExportError('VERIFY_FAILED', what)
    log.failure(error)
    return error.failure.exit
  })
}

const SEEDS = 2 ** 32

function chooseBlocks({ blocks, sample, seed }: AuditArguments): AuditOptions['blocks'] {
  const given = readCount('seed', seed, { least: 0, most: SEEDS - 1 })
  const count = readCount('sample', sample, { most: 1_000_000 }) ?? 100
  return blocks === 'all' ? 'all' : { sample: count, seed: given ?? randomInt(SEEDS) }
}

/** Lines of at most 80 columns, problems apart. */
function verdictLines(
  result: AuditResult,
  { output, seed }: { output: string; seed: number | null },
): string[] {
  const { ok, blocks, unknownBlocks, compared, missing, surplus, differing, unreadable, requests } = result
  const drawn = seed === null ? '' : `; --seed ${seed} draws them again`
  return [
    ...result.problems,
    `${output}: ${ok ? 'good' : 'NOT good'} by ${counted(blocks, 'block')} (${counted(requests, 'request')}${drawn})`,
    `  ${grouped(compared).padStart(9)}  exported transactions compared`,
    `  ${grouped(missing).padStart(9)}  missing: listed for a wallet, not exported`,
    `  ${grouped(surplus).padStart(9)}  surplus: exported for a wallet, not listed`,
    `  ${grouped(differing).padStart(9)}  differing`,
    ...(unknownBlocks > 0
      ? [`  ${grouped(unknownBlocks).padStart(9)}  further blocks unknown to the service (404), not judged`]
      : []),
    ...(unreadable > 0
      ? [`  ${grouped(unreadable).padStart(9)}  listed entries without a hash, not judged`]
      : []),
    '  Wallets seen through transfers alone are not judged: blocks do not list them.',
  ]
}
