import { randomInt } from 'node:crypto'
import type { CommandModule } from 'yargs'
import { type AuditOptions, type AuditResult, auditOutput } from '../audit/audit.ts'
import { ExportError } from '../core/errors.ts'
import { say, sayJson } from '../report/say.ts'
import { counted, grouped } from '../report/words.ts'
import { readCount } from './amounts.ts'
import { type LogArguments, logOptions, progressOn, withSignals } from './log.ts'
import { OUTPUT_OR_JOB, outputOf } from './output-of.ts'
import { accessOfOutput, type ServiceArguments, serviceOptions } from './service.ts'

type AuditArguments = ServiceArguments &
  LogArguments & {
    output: string
    blocks?: 'all' | undefined
    sample?: string | undefined
    seed?: string | undefined
    json: boolean
  }

export function auditCommand(finish: (exit: number) => void): CommandModule<object, AuditArguments> {
  return {
    command: 'audit <output>',
    describe: 'hold an export against the block listing; exit 0 or 10',
    builder: (argv) =>
      logOptions(
        serviceOptions(argv)
          .positional('output', { describe: OUTPUT_OR_JOB, type: 'string', demandOption: true })
          .option('blocks', { choices: ['all'] as const, describe: 'every block of the export' })
          .option('sample', {
            type: 'string',
            conflicts: 'blocks',
            describe: 'so many blocks, half of them with exported transactions; 100 unless told',
            requiresArg: true,
          })
          .option('seed', {
            type: 'string',
            describe: 'draw the same blocks again: the number that an audit printed',
            requiresArg: true,
          }),
      )
        .option('json', { type: 'boolean', default: false, describe: 'one JSON verdict on stdout' })
        .example('$0 audit output/mine --sample 500', 'by 500 blocks'),
    handler: async (args) => finish(await audit(args)),
  }
}

async function audit(args: AuditArguments): Promise<number> {
  const { json } = args
  const blocks = chooseBlocks(args)
  const named = await outputOf(args.output)
  const { output } = named
  return withSignals(args, async ({ log, signal }) => {
    const access = await accessOfOutput(named, { args, env: process.env, onNotice: log.info })
    const service = { ...access, signal, onDetail: log.debug }
    const result = await auditOutput(output, { service, blocks, onProgress: progressOn(log) })
    const seed = blocks === 'all' ? null : blocks.seed
    if (json) sayJson({ output, seed, ...result })
    else if (!args.quiet) say(verdictText(result, { output, seed }))
    if (result.ok) return 0
    const wrong = result.missing + result.surplus + result.differing
    const what = `${output}: ${counted(wrong, 'transaction')} not as the block listing has it`
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
function verdictText(result: AuditResult, { output, seed }: { output: string; seed: number | null }): string {
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
  ].join('\n')
}
